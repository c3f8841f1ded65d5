"""Tests on several hosts: slow, for root, and skipped where hosts cannot be made."""

import pytest

from tests.end_to_end.machine import clean_machine
from tests.network.namespaces import why_not

machine = pytest.fixture(clean_machine)


def pytest_itemcollected(item: pytest.Item) -> None:
    """pytest calls this for the tests of this folder alone."""
    item.add_marker("root")
    item.add_marker("slow")


@pytest.fixture(scope="session", autouse=True)
def hosts_can_be_made() -> None:
    if missing := why_not():
        pytest.skip(missing)
