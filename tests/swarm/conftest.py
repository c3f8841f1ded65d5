"""Fixtures of tests with real peers."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder whose path leaves room for the names of Unix sockets, which pytest's own does not."""
    folder = Path(tempfile.mkdtemp(prefix="hive"))
    yield folder
    shutil.rmtree(folder)
