import asyncio
import multiprocessing
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.swarm.traffic.token_bucket import TokenBucket


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_without_a_ceiling_nothing_waits(clock: Clock) -> None:
    bucket = TokenBucket(0, clock)
    assert bucket.delay(bucket.consume(1 << 40)) == 0
    assert bucket.debt == 0


def test_whoever_comes_later_waits_for_all_that_was_taken_before(clock: Clock) -> None:
    bucket = TokenBucket(1000, clock)
    first, second, third = (bucket.consume(500) for _ in range(3))
    assert bucket.delay(first) == 0
    assert bucket.delay(second) == 0.5
    assert bucket.delay(third) == 1.0
    clock.now = 0.75
    assert (bucket.delay(second), bucket.delay(third)) == (0, 0.25)


def test_an_idle_bucket_saves_up_a_tenth_of_a_second(clock: Clock) -> None:
    bucket = TokenBucket(1000, clock)
    clock.now = 3600.0
    bucket.consume(100)
    assert bucket.delay(bucket.consume(1)) == 0
    assert bucket.delay(bucket.consume(1)) == pytest.approx(0.001)


def test_a_changed_ceiling_counts_for_those_who_wait_already(clock: Clock) -> None:
    bucket = TokenBucket(1000, clock)
    bucket.consume(10_000)
    position = bucket.consume(1)
    assert bucket.delay(position) == 10
    bucket.rate = 10_000
    assert bucket.delay(position) == 1
    bucket.rate = 0
    assert bucket.delay(position) == 0


def test_a_new_ceiling_does_not_begin_with_a_debt_for_what_was_free(clock: Clock) -> None:
    bucket = TokenBucket(0, clock)
    bucket.consume(1 << 40)
    bucket.rate = 1000
    assert bucket.delay(bucket.consume(1)) == 0


def test_a_clock_that_stands_still_or_jumps_back_gives_nothing(clock: Clock) -> None:
    bucket = TokenBucket(1000, clock)
    bucket.consume(1000)
    position = bucket.consume(1)
    clock.now = -5.0
    assert bucket.delay(position) == 1


@given(
    st.lists(st.tuples(st.integers(1, 2000), st.floats(0, 3)), min_size=1, max_size=60),
    st.integers(500, 5000),
)
def test_in_no_window_more_passes_than_the_ceiling_and_two_chunks(steps: list[tuple[int, float]], rate: int) -> None:
    clock = Clock()
    bucket = TokenBucket(rate, clock)
    passed: list[tuple[float, int]] = []
    for count, idle in steps:
        clock.now += idle
        clock.now += bucket.delay(bucket.consume(count)) + 1e-9
        passed.append((clock.now, count))
    for index, (start, _) in enumerate(passed):
        for window in (1.0, 10.0):
            total = sum(count for at, count in passed[index:] if at <= start + window)
            assert total <= rate * (window + 0.1) + 2 * 2000


def _send_for(bucket: TokenBucket, seconds: float, chunk: int) -> None:
    stop = threading.Event()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        bucket.block_for(chunk, stop)
        passed.value += chunk


passed = multiprocessing.get_context("fork").Value("L", 0)


def test_processes_share_one_ceiling() -> None:
    passed.value = 0
    bucket = TokenBucket(1_000_000)
    fork = multiprocessing.get_context("fork")
    processes = [fork.Process(target=_send_for, args=(bucket, 1.5, 10_000)) for _ in range(3)]
    begin = time.monotonic()
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert passed.value <= 1_000_000 * (time.monotonic() - begin + 0.1) + 3 * 10_000


def test_a_raised_ceiling_wakes_those_who_wait_within_a_second() -> None:
    bucket = TokenBucket(10)
    bucket.consume(1000)
    waiter = threading.Thread(target=bucket.block_for, args=(1,))
    waiter.start()
    time.sleep(0.05)
    assert waiter.is_alive()
    changed = time.monotonic()
    bucket.rate = 1_000_000
    waiter.join(10)
    assert time.monotonic() - changed < 1


def test_a_stop_ends_the_wait() -> None:
    bucket, stop = TokenBucket(1), threading.Event()
    bucket.consume(1000)
    waiter = threading.Thread(target=bucket.block_for, args=(1, stop), daemon=True)
    waiter.start()
    waiter.join(0.1)
    assert waiter.is_alive()
    stop.set()
    waiter.join(10)
    assert not waiter.is_alive()


def test_coroutines_share_it_too() -> None:
    async def both() -> float:
        bucket = TokenBucket(100_000)
        begin = time.monotonic()
        await asyncio.gather(*(bucket.wait_for(10_000) for _ in range(5)))
        return time.monotonic() - begin

    assert 0.25 < asyncio.run(both()) < 5
