"""A backbone that is cut off does not answer, whatever connections the daemon lists, and answers again by itself."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.network.namespaces import why_not
from tests.network.swarm import RemotePeer, swarm

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.timeout(200),
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
]


@pytest.fixture
def volunteer() -> Iterator[RemotePeer]:
    """Somebody who has joined by a backbone, and only reaches out."""
    folder = Path(tempfile.mkdtemp(prefix="hive"))
    with swarm(folder, [True, False]) as (_backbone, joined):
        yield joined
    shutil.rmtree(folder)


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
