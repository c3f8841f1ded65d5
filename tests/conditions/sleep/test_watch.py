"""Sleep that was not announced, with clocks that a test sets."""

import pytest

from core.api.message import Message
from core.api.sensors import IN_USE, Attempt
from core.conditions.sleep.announcer import Announcer
from core.conditions.sleep.watch import GAP, ClockGap, SleepWatch, probe, through_sleep
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
    assert gap.has_slept() is slept
    assert gap.has_slept() is False


def test_each_sleep_is_reported_once() -> None:
    steady, wakes = Clock(100.0), [0]
    watch = SleepWatch(Announcer(), lambda: wakes.append(watch.now.wakes), [steady])
    watch.start()
    try:
        steady.now += GAP
        wait_for(lambda: watch.now.wakes == 1)
        steady.now += GAP
        wait_for(lambda: watch.now.wakes == 2)
        assert wakes == [0, 1, 2]
        assert not watch.now.near
    finally:
        watch.close()


def test_doctor_reports_that_only_the_clocks_show_sleep() -> None:
    info = probe(Announcer())
    assert info.known
    assert info.tried == (Attempt("nobody", Message("system_silent")), Attempt("clocks", IN_USE))


def test_the_clock_goes_on() -> None:
    before = through_sleep()
    wait_for(lambda: through_sleep() > before)
