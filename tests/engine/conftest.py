from collections.abc import Iterator
from pathlib import Path

import pytest

from core.api.home import Home
from tests.fakes.running_engine import RunningEngine


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[RunningEngine]:
    """Not started yet, so that a test may prepare the profile and the scripts."""
    home = Home(tmp_path / "home")
    running = RunningEngine(home, tmp_path)
    yield running
    running.clean_up()
