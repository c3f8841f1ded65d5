"""When a loss is out of hand."""

import pytest

from core.api.message import Message
from core.trainer.divergence import DivergenceDetector


def settled(loss: float = 2.0, times: int = 16) -> DivergenceDetector:
    watch = DivergenceDetector()
    for _ in range(times):
        assert watch.judge(loss) is None
    return watch


@pytest.mark.parametrize("loss", [float("nan"), float("inf"), -float("inf")])
def test_a_loss_that_is_not_finite_is_out_of_hand_at_once(loss: float) -> None:
    watch = DivergenceDetector()
    assert watch.judge(loss) == Message("loss_not_finite")
    assert not watch.is_steady


def test_four_high_losses_in_a_row_are_out_of_hand() -> None:
    watch = settled()
    too_high = Message("loss_too_high", {"loss": 7.0, "usual": 2.0})
    assert [watch.judge(7.0) for _ in range(4)] == [None, None, None, too_high]


def test_high_losses_with_a_good_one_between_are_not() -> None:
    watch = settled()
    assert [watch.judge(loss) for loss in (7.0, 7.0, 7.0, 2.0, 7.0, 7.0, 7.0)] == [None] * 7


def test_three_times_the_usual_loss_is_still_usual() -> None:
    watch = settled()
    assert [watch.judge(6.0) for _ in range(8)] == [None] * 8


def test_with_few_losses_nothing_is_known() -> None:
    watch = settled(times=15)
    # The sixteenth is what the median then rests on; from there on four must follow.
    assert [watch.judge(100.0) for _ in range(4)] == [None] * 4
    assert watch.judge(100.0) == Message("loss_too_high", {"loss": 100.0, "usual": 2.0})


def test_a_loss_that_falls_is_measured_against_what_it_has_become() -> None:
    watch = settled(10.0)
    for _ in range(64):
        watch.judge(1.0)
    assert [watch.judge(4.0) for _ in range(4)][-1] is not None


def test_going_back_restarts_the_count_and_good_losses_heal() -> None:
    watch = settled()
    for _ in range(3):
        watch.judge(7.0)
    watch.forget_high_losses()
    assert watch.is_steady
    assert watch.judge(7.0) is None
    assert watch.good_in_a_row == 0
    watch.judge(2.0)
    assert watch.good_in_a_row == 1
