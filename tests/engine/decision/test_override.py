"""What a volunteer asks for by hand, against the schedule and through its edges."""

from dataclasses import replace

import pytest

from core.api.errors import UsageError
from core.api.intent import Contribute, Pause, Resume
from core.api.preferences.schedule import CELLS, Level
from core.api.preferences.week_text import preset_cells
from core.api.reasons import Kind
from core.conditions.power import Power
from core.conditions.programs import RunningPrograms
from tests.engine.world import Play, World, berlin, kinds


@pytest.mark.parametrize("seconds", [None, 1800.0])
def test_contributing_by_hand_overrides_until_the_next_edge_or_as_long_as_was_asked(
    play: Play, seconds: float | None
) -> None:
    async def scenario(world: World) -> None:
        await world.tell(Contribute())
        assert kinds(world.at("2026-06-02T20:00")) == [Kind.OUTSIDE_SCHEDULE]
        now = await world.tell(Contribute(seconds=seconds))
        end = "2026-06-02T20:30" if seconds else "2026-06-02T22:00"
        assert (now.reasons, now.settings.limits.threads) == ((), 0)
        assert (now.schedule.overridden, now.schedule.override_until) == (True, berlin(end))
        assert (now.schedule.level, now.schedule.next_at) == (Level.OFF, berlin("2026-06-02T22:00"))
        after = world.at(end)
        assert (after.wanted, after.schedule.overridden) == (True, False)
        assert kinds(after) == ([Kind.OUTSIDE_SCHEDULE] if seconds else [])
        assert kinds(world.at("2026-06-03T08:00")) == [Kind.OUTSIDE_SCHEDULE]

    play(scenario)


def test_a_chosen_time_counts_through_edges_and_is_over_at_its_end(play: Play) -> None:
    async def scenario(world: World) -> None:
        world.now = berlin("2026-06-02T07:00")
        await world.tell(Contribute(seconds=2 * 3600))
        assert world.at("2026-06-02T08:30").reasons == ()
        after = world.at("2026-06-02T09:00")
        # It was not by the schedule that contributing began.
        assert (after.wanted, after.reasons) == (False, ())

    play(scenario)


def test_an_override_until_resumed_ends_there_and_a_pause_within_it_does_not_end_it(play: Play) -> None:
    async def scenario(world: World) -> None:
        world.now = berlin("2026-06-02T12:00")
        await world.tell(Contribute(override="resumed"))
        assert kinds(world.at("2026-06-04T12:00")) == []
        await world.tell(Pause(60.0))
        assert kinds(world.at("2026-06-04T12:00:59")) == [Kind.SNOOZED]
        assert kinds(world.at("2026-06-04T12:01")) == []
        assert kinds(await world.tell(Resume())) == [Kind.OUTSIDE_SCHEDULE]

    play(scenario)


def test_by_the_schedule_alone_nothing_is_overridden(play: Play) -> None:
    async def scenario(world: World) -> None:
        world.now = berlin("2026-06-02T12:00")
        assert kinds(await world.tell(Contribute(override="none"))) == [Kind.OUTSIDE_SCHEDULE]

    play(scenario)


def test_a_pause_lasts_until_the_next_edge_if_asked_and_else_through_all_of_them(play: Play) -> None:
    async def scenario(world: World) -> None:
        await world.tell(Contribute())
        paused = await world.tell(Pause(until="next_edge"))
        assert paused.reasons[0].until == berlin("2026-06-02T06:00")
        assert kinds(world.at("2026-06-02T05:59")) == [Kind.SNOOZED]
        assert kinds(world.at("2026-06-02T06:00")) == []
        await world.tell(Pause())
        assert kinds(world.at("2026-06-02T12:00")) == [Kind.PAUSED, Kind.OUTSIDE_SCHEDULE]
        assert kinds(world.at("2026-06-02T23:00")) == [Kind.PAUSED]

    play(scenario)


def test_a_schedule_that_never_changes_has_no_edge_to_pause_until(play: Play) -> None:
    async def scenario(world: World) -> None:
        with pytest.raises(UsageError, match="schedule_never_changes"):
            await world.tell(Pause(until="next_edge"))
        assert world.at("2026-06-02T12:00").schedule.next_at is None

    play(scenario, preset_cells("always"))


def test_in_a_week_that_is_off_contributing_by_hand_lasts_until_resumed(play: Play) -> None:
    async def scenario(world: World) -> None:
        seen = await world.tell(Contribute())
        assert (seen.reasons, seen.schedule.overridden, seen.schedule.override_until) == ((), True, None)
        assert kinds(await world.tell(Resume())) == [Kind.OUTSIDE_SCHEDULE]

    play(scenario, "." * CELLS)


def on_battery(world: World) -> None:
    machine = world.engine.sensor_thread
    machine.readings = replace(machine.readings, power=Power(on_battery=True, level=80))


def test_contributing_anyway_overrides_the_named_reasons_for_as_long_as_was_asked(play: Play) -> None:
    async def scenario(world: World) -> None:
        world.engine.sensor_thread.close()
        on_battery(world)
        assert kinds(await world.tell(Contribute())) == ["on_battery"]
        now = await world.tell(Contribute(seconds=3600.0, anyway=("on_battery",)))
        assert (now.reasons, now.anyway, now.schedule.override_until) == ((), ("on_battery",), world.now + 3600.0)
        machine = world.engine.sensor_thread
        machine.readings = replace(machine.readings, programs=RunningPrograms(("doom",)))
        assert kinds(world.at("2026-06-01T23:30")) == ["program_running"], "no other reason is overridden"
        machine.readings = replace(machine.readings, programs=RunningPrograms())
        after = world.at("2026-06-02T00:00")
        assert (after.wanted, after.anyway, kinds(after)) == (True, (), ["on_battery"])

    play(scenario)


def test_contributing_anyway_ends_by_resume_and_stops_if_nothing_was_wanted_before(play: Play) -> None:
    async def scenario(world: World) -> None:
        world.engine.sensor_thread.close()
        on_battery(world)
        await world.tell(Contribute(seconds=3600.0, anyway=("on_battery",)))
        assert not world.at("2026-06-02T00:00").wanted
        assert kinds(await world.tell(Contribute(anyway=("on_battery",), override="resumed"))) == []
        assert kinds(world.at("2026-06-04T23:00")) == []
        assert kinds(await world.tell(Resume())) == ["on_battery"]

    play(scenario)


def test_only_the_volunteers_own_limits_can_be_overridden(play: Play) -> None:
    async def scenario(world: World) -> None:
        with pytest.raises(UsageError, match="reason_not_overridable"):
            await world.tell(Contribute(anyway=("gpu_hot",)))

    play(scenario)
