"""What the big button and the tray offer."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from app.link.choices import Choice, anyway_choices, continues_by_itself, main_choice, more_choices, morning
from core.api.intent import Contribute, Pause, Resume
from core.api.preferences.schedule import Level, ScheduleState
from core.api.reasons import OVERRIDABLE, Kind, Reason
from core.api.snapshot import Snapshot
from tests.app.snapshots import CONTRIBUTING, IDLE, NOW, STARTING, failed, paused


def test_the_button_contributes_pauses_resumes_and_tries_again() -> None:
    assert main_choice(IDLE).command == Contribute(None)
    assert main_choice(CONTRIBUTING).command == Pause()
    assert main_choice(STARTING).command == Pause()
    assert main_choice(paused()).command == Resume()
    assert main_choice(failed(NOW + 20)).command == Pause()
    assert main_choice(failed(None)).command == Contribute("birds")


def test_a_pause_with_nothing_wanted_leads_to_contribute() -> None:
    choice = main_choice(replace(paused(), wanted=False))
    assert (choice.text, choice.command) == ("Contribute", Contribute("birds"))


@pytest.mark.usefixtures("london")
def test_a_pause_lasts_half_an_hour_one_two_until_morning_or_for_good() -> None:
    pauses = [choice.command for choice in more_choices(CONTRIBUTING, NOW)]
    assert pauses == [Pause(1800), Pause(3600), Pause(7200), Pause(morning(NOW) - NOW), Pause()]
    assert "08:00" in more_choices(CONTRIBUTING, NOW)[3].text


EDGE = NOW + 7200
OFF = ScheduleState(Level.OFF, Level.FULL, EDGE)
WAITING = replace(
    CONTRIBUTING,
    state="idle",
    session=None,
    schedule=OFF,
    reasons=(Reason(Kind.OUTSIDE_SCHEDULE, False, {}, EDGE),),
)


@pytest.mark.usefixtures("london")
def test_a_pause_can_last_until_the_schedule_changes() -> None:
    choices = more_choices(replace(CONTRIBUTING, schedule=ScheduleState(Level.FULL, Level.OFF, EDGE)), NOW)
    found = next(choice for choice in choices if choice.command == Pause(until="next_edge"))
    assert found.text == "Until the schedule changes (18:06)"


def test_in_hours_that_are_off_the_button_contributes_now() -> None:
    assert main_choice(WAITING) == Choice("Contribute now", Contribute("birds"))
    commands = [choice.command for choice in more_choices(WAITING, NOW)]
    assert Contribute("birds", 3600) in commands
    assert Contribute("birds") in commands, "until the schedule changes"
    assert Contribute("birds", override="resumed") in commands
    assert commands[-1] == Pause()


def test_whoever_overrides_the_schedule_can_go_back_to_it() -> None:
    overriding = replace(CONTRIBUTING, schedule=replace(OFF, overridden=True, override_until=EDGE))
    assert main_choice(overriding).command == Pause()
    assert more_choices(overriding, NOW)[-1] == Choice("Back to the schedule", Resume())


def test_before_contributing_the_menu_says_for_how_long() -> None:
    assert [choice.command for choice in more_choices(IDLE, NOW)][-1] == Contribute(None)
    assert more_choices(IDLE, NOW)[0].command == Contribute(None, 3600)


@pytest.mark.usefixtures("london")
@pytest.mark.parametrize(
    ("now", "then"),
    [
        ("2025-06-15T15:00+01:00", "2025-06-16T08:00+01:00"),
        ("2025-06-15T01:00+01:00", "2025-06-15T08:00+01:00"),
        ("2025-06-15T05:00+01:00", "2025-06-16T08:00+01:00"),
        ("2025-10-25T22:00+01:00", "2025-10-26T08:00+00:00"),
        ("2025-03-29T22:00+00:00", "2025-03-30T08:00+01:00"),
    ],
)
def test_tomorrow_morning_is_eight_o_clock_also_when_the_clocks_change(now: str, then: str) -> None:
    found = morning(datetime.fromisoformat(now).timestamp())
    assert datetime.fromtimestamp(found, UTC) == datetime.fromisoformat(then)


@pytest.mark.parametrize(
    ("snapshot", "goes_on"),
    [
        (IDLE, False),
        (paused(), False),
        (paused(NOW + 60), True),
        (replace(CONTRIBUTING, state="holding", reasons=paused().reasons), False),
        (replace(CONTRIBUTING, state="leaving", wanted=False), False),
        (CONTRIBUTING, True),
        (STARTING, True),
        (failed(NOW + 20), True),
    ],
)
def test_quit_asks_only_when_something_would_go_on(snapshot: Snapshot, goes_on: bool) -> None:
    assert continues_by_itself(snapshot) is goes_on


def test_without_a_project_named_the_button_follows_the_order_of_preference() -> None:
    at_rest = replace(paused(), wanted=False, pinned=None)
    assert main_choice(at_rest).command == Contribute(None)
    assert more_choices(replace(at_rest, reasons=()), NOW)[0].command == Contribute(None, 3600)


BATTERY = Reason("on_battery", hold=True)
ON_BATTERY = replace(CONTRIBUTING, state="holding", reasons=(BATTERY,), schedule=ScheduleState(Level.FULL, None, EDGE))


@pytest.mark.usefixtures("london")
def test_ones_own_limits_can_be_overridden_for_a_while() -> None:
    offered = anyway_choices(ON_BATTERY, NOW)
    assert [choice.text for choice in offered] == [
        "For 1\N{NO-BREAK SPACE}h",
        "For 2\N{NO-BREAK SPACE}h",
        "Until tomorrow morning (08:00)",
        "Until the schedule changes (18:06)",
        "Until I pause",
    ]
    assert offered[0].command == Contribute("birds", 3600.0, anyway=("on_battery",))
    assert offered[3].command == Contribute("birds", anyway=("on_battery",))
    assert offered[4].command == Contribute("birds", override="resumed", anyway=("on_battery",))


@pytest.mark.parametrize("kind", sorted(OVERRIDABLE - {Kind.OUTSIDE_SCHEDULE}))
def test_every_limit_of_the_volunteer_is_offered_to_be_overridden(kind: str) -> None:
    reasons = (Reason(kind, hold=True), Reason(Kind.OUTSIDE_SCHEDULE, hold=False))
    assert kind in anyway_choices(replace(ON_BATTERY, reasons=reasons), NOW)[0].command.anyway  # type: ignore[union-attr]


@pytest.mark.parametrize("other", ["offline", "gpu_hot", Kind.PAUSED, Kind.BACKING_OFF])
def test_where_something_else_prevents_it_too_nothing_is_offered(other: str) -> None:
    assert anyway_choices(replace(ON_BATTERY, reasons=(BATTERY, Reason(other, hold=True))), NOW) == ()


def test_who_contributes_anyway_gets_back_to_the_limits_and_keeps_what_is_overridden() -> None:
    anyway = replace(ON_BATTERY, state="contributing", reasons=(), anyway=("on_battery",))
    assert more_choices(anyway, NOW)[-1] == Choice("Back to my limits", Resume())
    metered = replace(anyway, reasons=(Reason("metered", hold=False),))
    assert anyway_choices(metered, NOW)[0].command == Contribute("birds", 3600.0, anyway=("metered", "on_battery"))
