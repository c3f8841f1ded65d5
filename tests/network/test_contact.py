"""A backbone that is cut off does not answer, whatever connections the daemon lists, and answers again by itself."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.network.lineups.swarm import RemotePeer, swarm

pytestmark = pytest.mark.timeout(200)


@pytest.fixture
def volunteer(short_folder: Path) -> Iterator[RemotePeer]:
    """A peer that only calls others and has joined through a backbone."""
    with swarm(short_folder, [True, False]) as (_backbone, joined):
        yield joined


def until(volunteer: RemotePeer, answers: bool, seconds: float) -> float:
    """Seconds after which that was so."""
    begin = time.monotonic()
    while volunteer.ask("contact") != answers:
        assert time.monotonic() - begin < seconds
        time.sleep(0.5)
    return time.monotonic() - begin


def test_a_backbone_behind_a_cut_line_is_missed_within_seconds_and_found_again(volunteer: RemotePeer) -> None:
    assert volunteer.ask("contact")
    volunteer.host.line("down")
    missed = until(volunteer, False, 15.0)
    volunteer.host.line("up")
    found = until(volunteer, True, 30.0)
    print(f"missed after {missed:.1f} s, found again after {found:.1f} s")
