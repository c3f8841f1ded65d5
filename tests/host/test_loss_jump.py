"""When evaluation losses show that the state of a run was spoilt."""

import math

from core.host.loss_jump import JumpDetector


def test_a_loss_that_falls_or_rises_a_little_is_good() -> None:
    jumps = JumpDetector()
    assert not any(jumps.has_jumped(loss) for loss in (6.0, 5.0, 5.5, 5.9, 6.4))


def test_a_loss_that_rises_by_more_than_a_fifth_or_is_no_number_has_jumped() -> None:
    jumps = JumpDetector()
    assert jumps.has_jumped(math.nan)
    assert not jumps.has_jumped(5.0)
    assert all(jumps.has_jumped(loss) for loss in (6.1, math.inf, math.nan, 6.1))
    assert jumps.good == 5.0


def test_after_a_restart_the_loss_is_compared_with_that_of_the_checkpoint() -> None:
    assert JumpDetector(good=5.0).has_jumped(6.1)


def test_the_run_goes_back_three_times_unless_it_has_learned_meanwhile() -> None:
    jumps = JumpDetector()
    assert not jumps.has_jumped(5.0)
    assert [jumps.may_return() for _ in range(2)] == [True, True]
    assert not jumps.has_jumped(5.0)
    assert [jumps.may_return() for _ in range(2)] == [True, False]
    assert not jumps.has_jumped(4.9)
    assert jumps.may_return()
