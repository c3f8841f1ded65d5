from collections.abc import Iterator

import pytest

from tests.end_to_end.machine import Machine


@pytest.fixture
def machine() -> Iterator[Machine]:
    own = Machine()
    yield own
    own.clean_up()
