import time
from functools import partial

import pytest

from core.swarm.dht.progress.report_pace import GuardedEvent, Reported, WorkingSpeed

BATCH, STEP = 1000, 8


def is_outdated(samples: int, now: float) -> bool:
    """Of a peer that has reported 100 samples at 50 seconds, and four a second."""
    return Reported(100, 4.0, at=50.0).is_outdated(samples, now, batch=BATCH, step=STEP)


def test_who_computes_as_expected_reports_every_ten_seconds() -> None:
    assert next(now for now in range(50, 70) if is_outdated(100 + 4 * (now - 50), now)) == 60


def test_who_is_faster_or_slower_than_expected_reports_it_within_two_seconds() -> None:
    assert not is_outdated(130, 51.0)
    assert is_outdated(130, 52.0)
    assert is_outdated(108, 56.0)


def test_half_a_step_or_a_hundredth_of_the_batch_is_nothing_that_others_must_know() -> None:
    assert not is_outdated(108 + STEP // 2, 52.0)
    assert not is_outdated(120 + BATCH // 100, 55.0)
    assert is_outdated(121 + BATCH // 100, 55.0)


def test_a_round_between_two_microbatches_makes_nobody_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    speed = WorkingSpeed(alpha=0.1)
    for _epoch in range(50):
        now += 4.0  # the peer rests
        with speed.pause():
            now += 10.0
            speed.reset_timer()  # as hivemind does when the epoch changes
        now += 1.0
        speed.update(task_size=8)
    assert speed.samples_per_second == pytest.approx(8 / 5)


def test_who_rests_reports_it_when_the_others_expect_more_than_the_samples_it_is_at() -> None:
    promises = partial(Reported(100, 4.0, at=50.0).promises_too_much, 100, step=STEP)
    assert next(now for now in range(50, 70) if promises(float(now), batch=100)) == 54  # one and a half steps
    assert next(now for now in range(50, 70) if promises(float(now), batch=BATCH)) == 55  # a step and 1 % of the batch
    assert not Reported().promises_too_much(0, 1_790_000_000.0, batch=BATCH, step=STEP)


@pytest.mark.parametrize(("waited", "present"), [(0.5, 8.0), (1.0, 8.0), (4.0, 2.0), (80.0, 0.1)])
def test_the_present_speed_falls_while_nothing_comes(
    monkeypatch: pytest.MonkeyPatch, waited: float, present: float
) -> None:
    speed = WorkingSpeed()
    speed.update(task_size=8, interval=1.0)
    came = speed.timestamp
    monkeypatch.setattr(time, "perf_counter", lambda: came + waited)
    assert speed.present == pytest.approx(present)
    assert speed.samples_per_second == pytest.approx(8.0), "a rest is measured when the next samples come"


def test_who_has_reported_nothing_reports() -> None:
    assert Reported().is_outdated(STEP, 1_790_000_000.0, batch=BATCH, step=STEP)


def test_hivemind_reports_only_what_was_allowed_once() -> None:
    event = GuardedEvent()
    event.set()
    assert not event.is_set()
    event.allow()
    event.set()
    assert event.is_set()
    event.clear()
    event.set()
    assert not event.is_set()
