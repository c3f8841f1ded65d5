"""When a session rests because others want the processor, with the test's own clock, scheduler and cores."""

import multiprocessing
import os
import time

import pytest

from core.trainer.machine.contention import Contention, FreeCores, ThreadTimes, read_schedstat


class Computer:
    """A thread that computes and waits, and cores that are free or not."""

    def __init__(self) -> None:
        self.now = self.computing = self.waiting = 0.0
        self.free: float | None = 0.0
        self.contention = Contention(lambda: self.now, self.read, lambda: self.free)

    def read(self) -> ThreadTimes | None:
        return ThreadTimes(self.computing, self.waiting)

    def microbatch(self, computing: float, waiting: float) -> bool:
        self.computing += computing
        self.waiting += waiting
        self.now += computing + waiting
        return self.contention.crowded(after_microbatch=True)

    def rest(self, step: float = 0.25) -> float:
        """Seconds until it may go on."""
        begin = self.now
        while self.contention.crowded(after_microbatch=False):
            self.now += step
        return self.now - begin


@pytest.fixture
def computer() -> Computer:
    return Computer()


def test_a_free_computer_is_used_without_a_rest(computer: Computer) -> None:
    assert not any(computer.microbatch(0.1, 0.01) for _ in range(10))


def test_peers_of_our_own_on_one_core_do_not_make_each_other_rest(computer: Computer) -> None:
    assert not any(computer.microbatch(0.1, 0.2) for _ in range(10))


def test_a_saturated_computer_is_left_alone_but_for_a_look_each_minute(computer: Computer) -> None:
    for _ in range(3):
        assert computer.microbatch(0.1, 1.9)
        assert computer.rest() == pytest.approx(60.0)


def test_a_rest_during_which_nothing_was_free_goes_on_until_something_is(computer: Computer) -> None:
    computer.free = None
    assert not computer.microbatch(0.1, 0.1)
    computer.now, computer.free = computer.now + 0.1, 0.2
    assert computer.contention.crowded(after_microbatch=False)
    computer.now, computer.free = computer.now + 5.0, None
    assert computer.contention.crowded(after_microbatch=False), "too short a time tells nothing new"
    computer.now, computer.free = computer.now + 0.1, 0.6
    assert not computer.contention.crowded(after_microbatch=False)


def test_a_core_that_becomes_free_ends_the_rest(computer: Computer) -> None:
    assert computer.microbatch(0.1, 1.9)
    computer.now += 1.0
    computer.free = 0.6
    assert computer.rest() == 0.0
    computer.free = 0.0
    assert not computer.microbatch(0.1, 0.0)


def test_a_system_that_does_not_tell_is_never_crowded() -> None:
    computer = Computer()
    computer.read = lambda: None  # type: ignore[method-assign]
    computer.contention = Contention(lambda: computer.now, lambda: None, lambda: 0.0)
    assert not computer.microbatch(0.1, 5.0)


def test_the_kernel_tells_how_long_a_thread_computed_and_waited() -> None:
    before = read_schedstat()
    assert before is not None
    until = time.thread_time() + 0.1
    while time.thread_time() < until:
        pass
    after = read_schedstat()
    assert after is not None
    assert after.computing - before.computing == pytest.approx(0.1, abs=0.02)
    assert after.waiting >= before.waiting


def spin(ready: "multiprocessing.synchronize.Event", end: "multiprocessing.synchronize.Event") -> None:
    ready.set()
    while not end.is_set():
        # The processes share the event's lock: asked for all the time, they would wait for each other, not compute.
        for _ in range(100_000):
            pass


def test_cores_are_not_free_while_every_one_of_them_is_used() -> None:
    context = multiprocessing.get_context("spawn")
    end, ready = context.Event(), [context.Event() for _ in range(os.cpu_count() or 1)]
    spinning = [context.Process(target=spin, args=(event, end)) for event in ready]
    for process in spinning:
        process.start()
    try:
        assert all(event.wait(30) for event in ready)
        free = FreeCores()
        time.sleep(1.0)
        unused = free()
        assert unused is not None
        assert unused < 0.4
    finally:
        end.set()
        for process in spinning:
            process.join(30)
