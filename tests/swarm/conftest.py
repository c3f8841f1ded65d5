"""Peers of one process that hand a state around, and the line that counts their bytes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.swarm.traffic.meter import Line
from tests.swarm.installed import installed
from tests.swarm.state_swarm import Swarm


@pytest.fixture
def line(short_folder: Path) -> Iterator[Line]:
    with installed(short_folder) as made:
        yield made


@pytest.fixture
def swarm(short_folder: Path, line: Line) -> Iterator[Swarm]:
    made = Swarm(short_folder, line)
    yield made
    # What still counts as coming in would take its share of the line from the next test's peers.
    made.until(lambda: line.inflows == 0)
    made.end()
