"""Sleep that nobody told of, with clocks that a test sets."""

import pytest

from core.api.message import Message
from core.api.sensors import IN_USE, Attempt
from core.conditions.sleep.watch import GAP, ClockGap, Nobody, SleepWatch, probe, through_sleep
from tests.waiting import wait_for


class Clock:
    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("steady", "wall", "slept"),
    [
        (1.0, 1.0, False),
        (GAP - 0.1, GAP - 0.1, False),
        (GAP, GAP, True),
        # A virtual machine was paused: only the wall clock has been set right since.
        (1.0, 3600.0, True),
        # Somebody set the clock back, before or after a sleep.
        (1.0, -3600.0, False),
        (60.0, -3600.0, True),
    ],
)
def test_a_clock_that_went_on_unwatched_shows_sleep(steady: float, wall: float, slept: bool) -> None:
    clocks = Clock(100.0), Clock(1_760_000_000.0)
    gap = ClockGap(clocks)
    clocks[0].now += steady
    clocks[1].now += wall
    assert gap.look() is slept
    assert gap.look() is False


def test_the_watch_tells_of_each_sleep_once() -> None:
    steady, told = Clock(100.0), [0]
    watch = SleepWatch(Nobody(), lambda: told.append(watch.now.wakes), [steady])
    watch.start()
    try:
        steady.now += GAP
        wait_for(lambda: watch.now.wakes == 1)
        steady.now += GAP
        wait_for(lambda: watch.now.wakes == 2)
        assert told == [0, 1, 2]
        assert not watch.now.near
    finally:
        watch.close()


def test_doctor_is_told_that_only_the_clocks_tell() -> None:
    info = probe(Nobody())
    assert info.known
    assert info.tried == (Attempt("nobody", Message("system_silent")), Attempt("clocks", IN_USE))


def test_the_clock_goes_on() -> None:
    before = through_sleep()
    wait_for(lambda: through_sleep() > before)
