"""When a peer computes on during its rounds."""

from collections.abc import Callable

import pytest

from core.swarm.averaging.overlap.overlap_choice import OverlapChoice

BATCH = 100
Computer = Callable[[bool], tuple[float, float]]
"""Seconds of a round and of a whole epoch, with and without computing on."""


def card(overlaps: bool) -> tuple[float, float]:
    """It computes for ten seconds, and a round of four seconds takes nothing away from it."""
    return (4.0, 10.0) if overlaps else (4.0, 14.0)


def two_cores(overlaps: bool) -> tuple[float, float]:
    """A round that shares the processors with training takes twice as long, and holds that up as well."""
    return (8.0, 15.0) if overlaps else (4.0, 14.0)


def short_rounds(overlaps: bool) -> tuple[float, float]:
    return (0.5, 10.0) if overlaps else (0.5, 10.5)


class Trainer:
    def __init__(self, computer: Computer) -> None:
        self.choice, self.computer, self.now = OverlapChoice(), computer, 1000.0
        self.choice.add_update(4.0, self.now, BATCH, overlapped=False)

    def train(self, updates: int) -> list[bool]:
        """In which of them the round went on beside the training."""
        ways = list[bool]()
        for _update in range(updates):
            ways.append(self.choice.is_worth("auto"))
            took, epoch = self.computer(ways[-1])
            self.now += epoch
            self.choice.add_update(took, self.now, BATCH, overlapped=ways[-1])
        return ways


def test_nothing_is_known_before_some_whole_epochs() -> None:
    assert Trainer(card).train(5) == [False] * 5


def test_who_computes_more_by_computing_on_goes_on_with_it() -> None:
    trainer = Trainer(card)
    trainer.train(5)
    assert trainer.train(90) == [True] * 90


def test_where_training_and_averaging_share_processors_it_is_tried_for_five_epochs() -> None:
    trainer = Trainer(two_cores)
    trainer.train(5)
    assert trainer.train(90) == [True] * 5 + [False] * 85


def test_rounds_that_take_less_than_a_tenth_of_the_time_are_left_alone() -> None:
    assert not any(Trainer(short_rounds).train(300))


@pytest.mark.parametrize(("before", "after"), [(card, two_cores), (two_cores, card)])
def test_a_computer_that_changes_is_noticed_within_a_hundred_updates(before: Computer, after: Computer) -> None:
    trainer = Trainer(before)
    trainer.train(50)
    trainer.computer = after
    trainer.train(120)
    assert trainer.train(20) == [after is card] * 20


def test_a_single_slow_epoch_changes_nothing() -> None:
    trainer = Trainer(card)
    trainer.train(30)
    trainer.computer = lambda _overlaps: (90.0, 100.0)
    trainer.train(1)
    trainer.computer = card
    assert all(trainer.train(20))


def test_a_pause_makes_no_epoch_longer() -> None:
    trainer = Trainer(card)
    trainer.train(4)
    share = trainer.choice.value
    trainer.choice.pause()
    trainer.now += 10_000.0
    trainer.train(1)
    assert trainer.choice.value == share


def test_a_project_may_decide_otherwise() -> None:
    assert OverlapChoice().is_worth("always")
    trainer = Trainer(card)
    trainer.train(20)
    assert not trainer.choice.is_worth("never")
