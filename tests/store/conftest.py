"""A store of a test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.store.store import Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "idlehive.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = Store(path)
    yield store
    store.close()
