"""What is going on, in sentences."""

from typing import get_args

import pytest
from msgspec.structs import replace

from app.text import progress, reasons, steps
from app.text import status as status_text
from app.text.wordings.reasons import REASONS
from core.api.message import Message
from core.api.preferences.schedule import Level, ScheduleState
from core.api.reasons import Kind, Reason, Severity
from core.api.snapshot import CatchUp, Phase, Place, Snapshot, State, Transfer
from tests.app.snapshots import CONTRIBUTING, IDLE, NOW, PROGRESS, SILENT, STARTING, failed, paused
from tests.app.spaces import GROUP, SPACE

UNREACHED = "None of the project's peers answers: the organiser's machine or your network may be down"
HALF = Transfer(1_200_000, 3_400_000)


def plain(text: str) -> str:
    return text.replace(SPACE, " ").replace(GROUP, " ")


def status(snapshot: Snapshot) -> str:
    return plain(status_text.status(snapshot, NOW))


@pytest.mark.usefixtures("london")
@pytest.mark.parametrize(
    ("snapshot", "sentence"),
    [
        (CONTRIBUTING, "Contributing to Birdsong"),
        (STARTING, "Getting ready: fetching 1.2 of 3.4 MB"),
        (replace(STARTING, transfer=None), "Getting ready"),
        (Snapshot(state="joining"), "Looking for peers"),
        (Snapshot(state="syncing"), "Catching up with the others"),
        (Snapshot(state="syncing", transfer=HALF), "Catching up: 1.2 of 3.4 MB"),
        (Snapshot(state="syncing", catching_up=CatchUp(12, 15)), "Catching up: epoch 12 → 15"),
        (
            Snapshot(state="syncing", catching_up=CatchUp(12, 15), transfer=HALF),
            "Catching up: epoch 12 → 15 (1.2 of 3.4 MB)",
        ),
        (Snapshot(state="leaving"), "Leaving the peers"),
        (IDLE, "Ready to contribute"),
        (Snapshot(state="idle"), "Ready to contribute"),
        (paused(), "Paused until you resume"),
        (paused(NOW + 600), "Paused until 16:16"),
        (
            failed(NOW + 20),
            f"Waiting to retry in 20 s: {UNREACHED}",
        ),
        (
            failed(NOW - 1),
            f"Trying again: {UNREACHED}",
        ),
        (failed(None), UNREACHED),
    ],
)
def test_the_state_is_one_sentence(snapshot: Snapshot, sentence: str) -> None:
    assert status(snapshot) == sentence


@pytest.mark.parametrize("state", get_args(State))
def test_every_state_has_a_sentence_a_tone_and_a_headline(state: State) -> None:
    snapshot = Snapshot(state=state)
    assert status_text.status(snapshot, NOW)
    assert status_text.caption(snapshot, NOW)
    assert status_text.title(snapshot)
    assert status_text.tone(snapshot) in get_args(status_text.Tone)


@pytest.mark.parametrize("kind", REASONS)
def test_every_kind_of_reason_has_a_sentence_without_a_full_stop(kind: str) -> None:
    for until in (None, NOW + 60):
        sentence = reasons.sentence_with_end(Reason(kind, hold=False, until=until), NOW)
        assert sentence
        assert not sentence.endswith(".")


def test_the_first_reason_is_a_headline_and_its_details_stand_below() -> None:
    reason = Reason("in_use", hold=True, params={"wait": 180})
    snapshot = replace(CONTRIBUTING, state="holding", reasons=(reason,))
    assert status(snapshot) == "Waiting: you are using this computer"
    explanation = plain(status_text.explanation(snapshot, NOW))
    assert explanation == "You are using the computer; contributing resumes 3 min after the last input."


@pytest.mark.usefixtures("london")
def test_outside_the_schedule_says_until_when() -> None:
    reason = Reason(Kind.OUTSIDE_SCHEDULE, False, {}, NOW + 600)
    snapshot = replace(CONTRIBUTING, state="idle", reasons=(reason,))
    assert status(snapshot) == "Waiting: outside the hours of your schedule, until 16:16"
    assert status_text.explanation(snapshot, NOW) == ""


@pytest.mark.usefixtures("london")
def test_every_further_reason_is_told_with_its_end() -> None:
    failure = {"failure": Message("session_ended")}
    backing_off = Reason(Kind.BACKING_OFF, hold=False, params=failure, until=NOW + 20, severity=Severity.NOTICE)
    snapshot = replace(paused(NOW + 600), reasons=(backing_off, *paused(NOW + 600).reasons))
    assert status(snapshot) == "Paused until 16:16"
    text = plain(status_text.explanation(snapshot, NOW))
    assert "The last session failed and is tried again soon: The session ended by itself (in 20 s)." in text


def test_a_failure_that_needs_the_volunteer_is_red_and_one_that_retries_is_not() -> None:
    assert status_text.tone(failed(None)) == "problem"
    assert status_text.tone(failed(NOW + 20)) == "working"


def test_an_error_is_told_once_on_the_page() -> None:
    for snapshot in (failed(NOW + 20), failed(None)):
        page = status_text.caption(snapshot, NOW) + status_text.explanation(snapshot, NOW)
        assert page.count(UNREACHED) == 1


def test_braces_in_a_name_are_left_alone() -> None:
    assert "{evil}" in status_text.status(replace(CONTRIBUTING, project_name="{evil} {0}"), NOW)
    assert "{0}" in status_text.status(failed(NOW + 5, Message("gpu_failed", {"detail": "{0}"})), NOW)


def test_a_contribution_tells_peers_own_share_and_when_the_update_is_due() -> None:
    text = plain(status_text.explanation(CONTRIBUTING, NOW))
    assert text == (
        "14 peers are filling this batch together. You gave 9 % of it. The next update is due in about 12 s."
    )


def test_someone_alone_is_told_so() -> None:
    alone = replace(CONTRIBUTING, progress=replace(PROGRESS, peers=1))
    assert status_text.explanation(alone, NOW).startswith("You are the only one")


@pytest.mark.parametrize("phase", get_args(Phase))
def test_every_step_of_an_epoch_has_its_words(phase: Phase) -> None:
    progress = replace(PROGRESS, phase=phase)
    assert steps.step_name(phase)
    assert steps.step_meaning(phase)
    assert steps.ring_line(progress)
    assert "369" in steps.ring_meaning(progress)


def present_step(snapshot: Snapshot) -> str:
    (name,) = [step.name for step in steps.steps(snapshot) if step.is_now]
    return name


def test_getting_ready_has_steps_of_its_own() -> None:
    launched = replace(STARTING, transfer=None, session=None)
    seen = [launched, replace(launched, session=STARTING.session), Snapshot(state="joining"), Snapshot(state="syncing")]
    assert [present_step(snapshot) for snapshot in seen] == ["Start", "Load", "Find peers", "Catch up"]
    meanings = {status_text.explanation(snapshot, NOW) for snapshot in seen}
    assert len(meanings) == 4
    assert present_step(STARTING) == "Load"
    assert present_step(CONTRIBUTING) == "Accumulate"


@pytest.mark.parametrize("snapshot", [IDLE, paused(), failed(None)])
def test_at_rest_no_step_is_the_present_one(snapshot: Snapshot) -> None:
    assert [step.name for step in steps.steps(snapshot) if step.is_now] == []


def test_memory_that_is_still_held_is_not_called_free() -> None:
    holding = replace(CONTRIBUTING, state="holding", reasons=paused().reasons)
    assert "in a few minutes the memory" in status_text.explanation(holding, NOW)
    assert status_text.explanation(paused(), NOW) == "Processor and memory are all yours."


def test_the_ring_says_how_full_the_batch_is() -> None:
    assert plain(steps.ring_line(PROGRESS)) == "71 % of 4 096"
    assert steps.ring_line(replace(PROGRESS, target_batch_size=0)) == "no batch yet"


def test_time_left_counts_down_what_overrides_the_schedule() -> None:
    overriding = replace(CONTRIBUTING, schedule=ScheduleState(Level.OFF, Level.FULL, NOW + 2520, True, NOW + 2520))
    assert plain(status_text.time_left(overriding, NOW)) == "42 min left, then by the schedule"


def test_time_left_counts_down_a_pause_only() -> None:
    assert plain(status_text.time_left(paused(NOW + 2520), NOW)) == "42 min left"
    assert status_text.time_left(paused(), NOW) == ""
    assert status_text.time_left(CONTRIBUTING, NOW) == ""


def test_a_busy_processor_is_named_with_its_share_and_the_limit() -> None:
    busy = Reason("processor_busy", True, {"share": 0.9, "limit": 0.75})
    waiting = replace(CONTRIBUTING, state="holding", reasons=(busy,))
    assert status_text.caption(waiting, NOW) == "The processor is busy: waiting"
    detail = "Other programs use 90 % of the processor; contributing waits from 75 % on."
    assert plain(status_text.explanation(waiting, NOW)) == detail


def test_an_update_that_is_days_away_gets_no_estimate() -> None:
    slow = replace(CONTRIBUTING, progress=replace(PROGRESS, swarm_samples_per_second=0.001))
    assert "due" in status_text.explanation(CONTRIBUTING, NOW)
    assert "due" not in status_text.explanation(slow, NOW)


def test_a_place_is_told_only_where_others_are_counted() -> None:
    assert status_text.place(Place(1, 1, 64, 1.0, 0.0)) == ""
    assert plain(status_text.place(Place(1, 2, 64, 0.67, 0.0))) == "You: place 1 of 2, 67 % of all samples"


@pytest.mark.usefixtures("london")
def test_of_a_session_without_news_nothing_is_said_as_if_it_were_of_now() -> None:
    assert status(SILENT) == status_text.caption(SILENT, NOW) == "No news from the session since 16:06:40"
    assert status_text.explanation(SILENT, NOW).startswith("The figures are of that time.")
    assert (status_text.tone(SILENT), status_text.rest(SILENT), progress.rates(SILENT)) == ("quiet", "no news", "")
    syncing = replace(SILENT, state="syncing")
    assert status(syncing) == status(SILENT)
    assert not steps.is_getting_ready(syncing)
    assert not any(step.is_now for step in steps.steps(SILENT))
