"""What a session says it gave."""

from core.swarm.averaging.collaborative_step import Update
from core.trainer.counters import Ledger


def test_the_loss_of_an_epoch_is_the_mean_over_its_samples() -> None:
    ledger = Ledger()
    ledger.add_microbatch(8, 4.0)
    ledger.add_microbatch(24, 2.0)
    assert ledger.loss == 2.5
    assert ledger.add_update(Update(epoch=1, own_samples=32, group_size=2)) == 2.5
    ledger.add_microbatch(8, 1.0)
    assert ledger.loss == 2.5, "the finished epoch's, until the next one ends"


def test_a_round_counts_only_with_others_and_an_epoch_only_with_samples() -> None:
    ledger = Ledger()
    ledger.add_update(Update(epoch=1, own_samples=0, group_size=3))
    ledger.add_microbatch(8, 1.0)
    ledger.add_update(Update(epoch=2, own_samples=8, group_size=1))
    ledger.add_microbatch(8, 1.0)
    ledger.add_update(Update(epoch=3, own_samples=8, group_size=2))
    counters = ledger.counters(0.0)
    assert (counters.samples, counters.epochs, counters.rounds) == (16, 2, 1)


def test_a_failed_round_takes_its_loss_along_but_not_the_computed_samples() -> None:
    ledger = Ledger()
    ledger.add_microbatch(8, 9.0)
    ledger.add_failed_round()
    ledger.add_microbatch(8, 1.0)
    assert ledger.add_update(Update(epoch=1, own_samples=8, group_size=2)) == 1.0
    counters = ledger.counters(0.0)
    assert (counters.failed_rounds, counters.samples) == (1, 16)


def test_only_the_time_of_computing_counts() -> None:
    ledger = Ledger()
    ledger.begin(100.0)
    assert ledger.counters(103.0).seconds == 3.0
    ledger.end(105.0)
    assert ledger.counters(200.0).seconds == 5.0
    ledger.begin(200.0)
    ledger.end(201.0)
    ledger.end(300.0)
    assert ledger.counters(300.0).seconds == 6.0
