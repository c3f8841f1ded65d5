"""What a session says it gave."""

from core.swarm.averaging.group import Update
from core.trainer.counters import SessionCounters


def test_the_loss_of_an_epoch_is_the_mean_over_its_samples() -> None:
    session_counters = SessionCounters()
    session_counters.add_microbatch(8, 4.0)
    session_counters.add_microbatch(24, 2.0)
    assert session_counters.loss == 2.5
    assert session_counters.add_update(Update(epoch=1, own_samples=32, group_size=2)) == 2.5
    session_counters.add_microbatch(8, 1.0)
    assert session_counters.loss == 2.5, "the finished epoch's, until the next one ends"


def test_a_round_counts_only_with_others_and_an_epoch_only_with_samples() -> None:
    session_counters = SessionCounters()
    session_counters.add_update(Update(epoch=1, own_samples=0, group_size=3))
    session_counters.add_microbatch(8, 1.0)
    session_counters.add_update(Update(epoch=2, own_samples=8, group_size=1))
    session_counters.add_microbatch(8, 1.0)
    session_counters.add_update(Update(epoch=3, own_samples=8, group_size=2))
    counters = session_counters.counters(0.0)
    assert (counters.samples, counters.epochs, counters.rounds) == (16, 2, 1)


def test_a_failed_round_takes_its_loss_along_but_not_the_computed_samples() -> None:
    session_counters = SessionCounters()
    session_counters.add_microbatch(8, 9.0)
    session_counters.add_failed_round()
    session_counters.add_microbatch(8, 1.0)
    assert session_counters.add_update(Update(epoch=1, own_samples=8, group_size=2)) == 1.0
    counters = session_counters.counters(0.0)
    assert (counters.failed_rounds, counters.samples) == (1, 16)


def test_only_the_time_of_computing_counts() -> None:
    session_counters = SessionCounters()
    session_counters.begin(100.0)
    assert session_counters.counters(103.0).seconds == 3.0
    session_counters.end(105.0)
    assert session_counters.counters(200.0).seconds == 5.0
    session_counters.begin(200.0)
    session_counters.end(201.0)
    session_counters.end(300.0)
    assert session_counters.counters(300.0).seconds == 6.0
