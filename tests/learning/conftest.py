"""A cache of a test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.system.cache import Cache
from tests.learning.fetching import GIB


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    made = Cache(tmp_path / "cache", GIB)
    yield made
    made.close()
