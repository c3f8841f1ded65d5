"""A case that takes too long to compute again."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch
from hivemind.p2p import PeerID

from core.host import validation
from core.host.recomputation import Setup
from core.host.validation import Validation
from core.learning.order import Piece
from core.swarm.dht.work_records import Found
from core.swarm.trust.validation import Evidence, Wanted
from tests.learning.small_project import small_manifest
from tests.waiting import wait_for

PEER = str(PeerID(b"\x12\x20" + bytes(32)))
ANSWERS = """
import sys
sys.stdin.readline()
for number, _job in enumerate(sys.stdin):
    if number or "slow" in sys.argv:
        sys.stdin.read()
    print('{"deviation": 0.0, "seconds": 0.016}', flush=True)
"""
"""The first case quickly, and no other; or none."""


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def _wanted(started: Validation) -> Wanted:
    """Once it has ended with a case."""
    wait_for(lambda: started.wanted is not None, what="it is free")
    wanted = started.wanted
    assert wanted is not None
    return wanted


def _started(folder: Path, opened: ExitStack, *options: str) -> tuple[Validation, Callable[[], None], list[float]]:
    """With what offers a case, and the deviations that were found."""
    work = Mock()
    work.wait_for.return_value = Found([Piece(0, 0, 16)], others=True)
    work.accused.return_value = frozenset()
    program = [sys.executable, "-c", ANSWERS, *options]
    started, found = Validation(Setup(small_manifest(), None, ()), work, folder, program), list[float]()
    started.on_verdict = lambda _evidence, deviation, _is_good: found.append(deviation)
    started.start()
    opened.callback(started.stop)

    def offer() -> None:
        _wanted(started)
        started.offer(Evidence(PEER, b"", 0, 16.0, 0, 1, 1.0, (), b""), {0: [torch.zeros(1)]})

    return started, offer, found


def test_who_names_samples_that_take_far_longer_than_others_has_failed(
    tmp_path: Path, opened: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation, "_LONGEST_CASE", 3.0)
    started, offer, found = _started(tmp_path, opened)
    offer()
    wait_for(lambda: found == [0.0], what="the quick case")
    offer()
    wait_for(lambda: found == [0.0, float("inf")], what="the slow case")
    assert _wanted(started).suspects == {PEER}


def test_a_computer_that_is_too_slow_for_the_project_judges_nobody(
    tmp_path: Path, opened: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation, "_LONGEST_CASE", 0.3)
    started, offer, found = _started(tmp_path, opened, "slow")
    offer()
    assert not _wanted(started).suspects
    assert found == []
