"""Waits between tries."""

from core.system.backoff import backoff


def test_waits_double_up_to_ten_minutes_and_stay_there() -> None:
    assert [backoff(failures) for failures in (1, 2, 3, 7, 8, 10_000)] == [5.0, 10.0, 20.0, 320.0, 600.0, 600.0]
