"""What is known of a session from its reports."""

from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from core.api.session import Report
from core.api.snapshot import Progress, Silence
from core.engine.decision.states import Ended
from core.engine.session.sessions import SILENT_AFTER, Sessions, on_hold

COMPUTING = Progress(epoch=4, samples=90, peers=3, epoch_samples=80, own_epoch_samples=32, target_batch_size=384)
RESTING = replace(COMPUTING, samples=94, peers=1, epoch_samples=0)


def test_a_pause_keeps_the_batch_and_the_peers_where_they_were() -> None:
    first = on_hold(Report("holding", RESTING), Report("contributing", COMPUTING))
    assert first.progress == replace(COMPUTING, samples=94)
    assert on_hold(Report("holding", RESTING), first) == first


def test_a_session_that_begins_with_a_pause_shows_what_it_sees() -> None:
    assert on_hold(Report("holding", RESTING), None).progress == RESTING
    assert on_hold(Report("holding", RESTING), Report("joining")).progress == RESTING


def test_a_session_is_silent_some_seconds_after_its_last_report() -> None:
    unused: Any = SimpleNamespace(backbone=None)
    sessions = Sessions(unused, unused, unused)
    assert (sessions.silence(100.0), sessions.next_moment(100.0)) == (None, None)
    sessions.follow(Report("contributing"), 100.0)
    assert (sessions.silence(104.9), sessions.next_moment(104.9)) == (None, 100.0 + SILENT_AFTER)
    assert (sessions.silence(105.0), sessions.next_moment(105.0)) == (Silence(100.0), None)
    sessions.follow(Ended(), 106.0)
    assert sessions.silence(200.0) is None
