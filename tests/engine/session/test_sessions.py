"""What is known of a session from its reports."""

from msgspec.structs import replace

from core.api.session import Report
from core.api.snapshot import Progress
from core.engine.session.sessions import on_hold

COMPUTING = Progress(epoch=4, samples=90, peers=3, epoch_samples=80, own_epoch_samples=32, target_batch_size=384)
RESTING = replace(COMPUTING, samples=94, peers=1, epoch_samples=0)


def test_a_pause_keeps_the_batch_and_the_peers_where_they_were() -> None:
    first = on_hold(Report("holding", RESTING), Report("contributing", COMPUTING))
    assert first.progress == replace(COMPUTING, samples=94)
    assert on_hold(Report("holding", RESTING), first) == first


def test_a_session_that_begins_with_a_pause_shows_what_it_sees() -> None:
    assert on_hold(Report("holding", RESTING), None).progress == RESTING
    assert on_hold(Report("holding", RESTING), Report("joining")).progress == RESTING
