import time

import pytest

from app.cli.console.session_totals import Given
from app.text import plain
from core.api.reasons import Kind, Reason
from core.api.session_settings import Limits
from core.api.snapshot import CatchUp, Progress, Snapshot, Today, Traffic, Transfer

NOON = time.mktime((2026, 3, 5, 12, 0, 0, 0, 0, -1))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (3600, "1 h"),
        (4800, "1 h 20 min"),
        (86400, "1 d"),
        (100_000, "1 d 3 h"),
    ],
)
def test_a_duration_has_two_units_at_most(seconds: float, text: str) -> None:
    assert plain.duration(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (34_200_000, "34 MB"), (999_600, "1.0 MB"), (2e15, "2000 TB")],
)
def test_a_size_has_about_three_digits(number: float, text: str) -> None:
    assert plain.size(number) == text


@pytest.mark.parametrize(("hours", "text"), [(11, "23:00"), (24, "Fri 12:00"), (240, "2026-03-15 12:00")])
def test_a_moment_is_said_as_shortly_as_it_is_clear(hours: int, text: str) -> None:
    assert plain.clock(NOON + hours * 3600, NOON) == text


def test_a_reason_gets_its_end() -> None:
    reason = Reason(Kind.SNOOZED, hold=True, text="You paused contributing for a while.", until=NOON + 3600)
    assert plain.reason(reason, NOON) == "You paused contributing for a while until 13:00."


def test_all_reasons_are_told() -> None:
    reasons = (Reason(Kind.PAUSED, True, "One."), Reason(Kind.NO_PROJECT, False, "Two."))
    assert plain.headline(Snapshot(state="holding", reasons=reasons, engine_pid=1), NOON) == "On hold: One. Two."


def test_a_failure_says_when_it_is_tried_again() -> None:
    snapshot = Snapshot(state="failed", error="No network.", retry_at=NOON + 60, engine_pid=1)
    assert plain.headline(snapshot, NOON) == "Failed: No network. Trying again at 12:01."


def test_a_download_tells_how_far_it_is() -> None:
    snapshot = Snapshot(state="syncing", transfer=Transfer(1_000_000, 34_000_000), engine_pid=1)
    assert plain.headline(snapshot, NOON) == "Catching up from peers: 1.0 MB of 34 MB"


def test_a_hostile_name_cannot_steer_the_terminal() -> None:
    snapshot = Snapshot(state="contributing", project_name="Bees\x1b]0;owned\x07\r\n\u202e", engine_pid=1)
    assert plain.headline(snapshot, NOON).isprintable()


def test_what_was_given_counts_from_the_first_look_on() -> None:
    given = Given().after(_snapshot(100, 1000)).after(_snapshot(130, 1500)).after(_snapshot(150, 2500))
    assert (given.sums["samples"], given.sums["uploaded"]) == (50, 1500)


def test_what_was_given_survives_midnight_and_a_new_session() -> None:
    given = Given().after(_snapshot(100, 1000)).after(_snapshot(10, 200)).after(_snapshot(30, 250))
    assert (given.sums["samples"], given.sums["uploaded"]) == (30, 250)


def test_nothing_given_is_said_so() -> None:
    assert Given().after(_snapshot(100, 0)).sentence() == "Nothing was given this time."


def test_what_was_given_is_one_sentence() -> None:
    end = Snapshot(state="idle", today=Today(1234, 720.0, 17), traffic=Traffic(34_000_000, 12_000_000))
    said = Given().after(Snapshot(state="idle")).after(end).sentence()
    assert said == "Given: 1,234 samples towards 17 epochs in 12 min; 34 MB sent, 12 MB received."


def test_the_epoch_is_never_more_than_full() -> None:
    snapshot = Snapshot(state="contributing", progress=Progress(epoch_samples=300, target_batch_size=200))
    assert plain.share(snapshot) == 1.0


def _snapshot(samples: int, uploaded: int) -> Snapshot:
    return Snapshot(state="contributing", today=Today(samples=samples), traffic=Traffic(uploaded=uploaded))


def test_only_limits_that_differ_from_the_default_are_told() -> None:
    assert plain.limits(Limits()) == "as Idlehive comes"
    assert plain.limits(Limits(threads=2, cache_size=64 << 20)) == "threads 2, cache_size 64 MiB"


def test_catching_up_is_said_with_epochs_and_bytes() -> None:
    snapshot = Snapshot(
        "syncing", project_name="p", catching_up=CatchUp(17, 21), transfer=Transfer(2_000_000, 8_000_000)
    )
    assert plain.headline(snapshot, NOON) == f"{plain.STATES['syncing']}, epoch 17 → 21: 2.0 MB of 8.0 MB"
