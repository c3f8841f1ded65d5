"""Peers of one process that hand a state around, and the link that counts their bytes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.swarm.traffic.link import Link
from tests.swarm.installed import installed
from tests.swarm.state_swarm import Swarm


@pytest.fixture
def link(short_folder: Path) -> Iterator[Link]:
    with installed(short_folder) as made:
        yield made


@pytest.fixture
def swarm(short_folder: Path, link: Link) -> Iterator[Swarm]:
    made = Swarm(short_folder, link)
    yield made
    # What still counts as coming in would take its share of the link from the next test's peers.
    made.until(lambda: link.incoming == 0)
    made.end()
