"""The schedule in the engine: with a clock that a test sets, and once with the real one."""

import asyncio
import json
import struct
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from datetime import datetime, tzinfo
from pathlib import Path
from types import NoneType
from zoneinfo import ZoneInfo

import pytest

from core.api.errors import UsageError
from core.api.home import Home
from core.api.intent import Contribute, Pause, Resume
from core.api.limits import LimitInfo, SetLimit, ShowLimits
from core.api.messages import Command
from core.api.reasons import Kind
from core.api.schedule import CELLS, ClearSchedule, GetSchedule, Level, ScheduleInfo, SetSchedule
from core.api.snapshot import Snapshot
from core.api.week_text import parse, preset_cells
from core.conditions.machine import NoMachine
from core.engine import profile_lock
from core.engine.commands import Commands
from core.engine.engine import Engine
from core.engine.programs import Programs
from core.engine.timetable import Timetable
from core.store.store import Store
from tests.fakes import scripted_host, scripted_trainer
from tests.fakes.running_engine import FAKES, RunningEngine, wait_for

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
WEEK = parse("daily 22:00-06:00; daily 06:00-08:00 gentle")


def berlin(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()


NIGHT = berlin("2026-06-01T23:00")
"""A Monday, when every scenario begins."""


class World:
    """An engine in this process: a test sets its clock and its zone, and pokes as the heartbeat does."""

    def __init__(self, engine: Engine, heard: Path) -> None:
        self.engine = engine
        self.now = NIGHT
        self.zone: tzinfo = BERLIN
        self._commands = Commands(engine)
        self._heard = heard

    def at(self, text: str) -> Snapshot:
        """Local time in Berlin jumps there, by sleep, by a change of the clock, or just by passing."""
        self.now = berlin(text)
        self.engine.update()
        return self.engine.snapshot()

    async def tell(self, command: Command) -> Snapshot:
        await self._commands.carry_out(command)
        return self.engine.snapshot()

    async def until(self, state: str) -> Snapshot:
        def reached() -> bool:
            seen = self.engine.snapshot()
            return seen.state == state and (state != "contributing" or seen.session is not None)

        await self.wait_for(reached)
        return self.engine.snapshot()

    async def wait_for(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 15
        while not condition():
            assert time.monotonic() < deadline, f"it stays {self.engine.snapshot()}"
            await asyncio.sleep(0.02)

    def heard(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self._heard.read_text().splitlines() if line.startswith("{")]


@asynccontextmanager
async def a_world(folder: Path, monkeypatch: pytest.MonkeyPatch, week: str) -> AsyncIterator[World]:
    heard, script = folder / "heard.jsonl", folder / "trainer.json"
    script.write_text(json.dumps({"hears": str(heard)}))
    (folder / "host.json").write_text("{}")
    monkeypatch.setenv(scripted_trainer.VARIABLE, str(script))
    monkeypatch.setenv(scripted_host.VARIABLE, str(folder / "host.json"))
    home = Home(folder / "home")
    profile = ExitStack()
    profile.enter_context(profile_lock.held(home))
    store = Store(home.database)
    programs = Programs(*([sys.executable, str(FAKES / name)] for name in ("scripted_trainer.py", "scripted_host.py")))
    worlds: list[World] = []
    engine = Engine(home, store, programs, NoMachine(), lambda: worlds[0].now if worlds else NIGHT)
    engine.timetable = Timetable(week, lambda: worlds[0].zone)
    worlds.append(World(engine, heard))
    try:
        # Without `engine.start`: its alarms follow the real clock.
        engine.senses.start()
        await worlds[0].wait_for(lambda: engine.senses.ready)
        yield worlds[0]
    finally:
        await engine.close()
        store.close()
        profile.close()


Scenario = Callable[[World], Awaitable[None]]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Scenario, str], None]:
    """Runs a scenario with a week of its own."""

    def run(scenario: Scenario, week: str = WEEK) -> None:
        async def whole() -> None:
            async with a_world(tmp_path, monkeypatch, week) as world:
                await scenario(world)

        asyncio.run(whole())

    return run


Play = Callable[..., None]


def kinds(snapshot: Snapshot) -> list[Kind]:
    return [reason.kind for reason in snapshot.reasons]


def test_a_change_of_level_reaches_the_running_session(play: Play) -> None:
    async def scenario(world: World) -> None:
        world.now = berlin("2026-06-02T05:59")
        await world.tell(Contribute())
        before = await world.until("contributing")
        assert (before.schedule.level, before.limits.threads) == (Level.FULL, 0)
        gentle = world.at("2026-06-02T06:00")
        assert (gentle.state, gentle.session) == ("contributing", before.session)
        assert (gentle.schedule.level, gentle.limits.threads) == (Level.GENTLE, 1)
        await world.wait_for(lambda: [command["type"] for command in world.heard()] == ["Start", "ApplyLimits"])
        assert world.heard()[-1]["limits"]["threads"] == 1  # type: ignore[index]  # limits are an object

    play(scenario)


def test_hours_that_are_off_free_everything_until_the_next_edge(play: Play) -> None:
    async def scenario(world: World) -> None:
        await world.tell(Contribute())
        await world.until("contributing")
        assert world.at("2026-06-02T08:00").state == "leaving"
        ended = await world.until("idle")
        (reason,) = ended.reasons
        assert (reason.kind, reason.hold, reason.until) == (Kind.OUTSIDE_SCHEDULE, False, berlin("2026-06-02T22:00"))
        assert (ended.wanted, ended.session) == (True, None)
        assert world.at("2026-06-02T21:59:59").state == "idle"
        assert world.at("2026-06-02T22:00").state == "starting"
        await world.until("contributing")

    play(scenario)


def test_edges_that_were_slept_through_do_not_matter(play: Play) -> None:
    async def scenario(world: World) -> None:
        await world.tell(Contribute())
        await world.until("contributing")
        # A whole day asleep, over two changes and into the same level: the session's own deadlines may act, the
        # schedule does not.
        assert kinds(world.at("2026-06-03T23:00")) == []
        assert Kind.OUTSIDE_SCHEDULE in kinds(world.at("2026-06-08T12:00"))

    play(scenario)


def test_a_clock_set_back_or_another_zone_counts_at_once(play: Play) -> None:
    async def scenario(world: World) -> None:
        await world.tell(Contribute())
        assert world.at("2026-06-02T06:30").schedule.level is Level.GENTLE
        assert world.at("2026-06-02T05:30").schedule.next_at == berlin("2026-06-02T06:00")
        assert world.at("2026-06-01T21:30").schedule.level is Level.OFF
        world.zone = NEW_YORK
        # 04:30 in New York.
        assert world.at("2026-06-02T10:30").schedule.level is Level.FULL
        assert world.at("2026-06-02T12:00").schedule.level is Level.GENTLE

    play(scenario)


@pytest.mark.parametrize("seconds", [None, 1800.0])
def test_contributing_by_hand_overrides_until_the_next_edge_or_as_long_as_was_asked(
    play: Play, seconds: float | None
) -> None:
    async def scenario(world: World) -> None:
        await world.tell(Contribute())
        assert kinds(world.at("2026-06-02T20:00")) == [Kind.OUTSIDE_SCHEDULE]
        now = await world.tell(Contribute(seconds=seconds))
        end = "2026-06-02T20:30" if seconds else "2026-06-02T22:00"
        assert (now.reasons, now.limits.threads) == ((), 0)
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
        with pytest.raises(UsageError, match="never changes"):
            await world.tell(Pause(until="next_edge"))
        assert world.at("2026-06-02T12:00").schedule.next_at is None

    play(scenario, preset_cells("always"))


def test_in_a_week_that_is_off_contributing_by_hand_lasts_until_resumed(play: Play) -> None:
    async def scenario(world: World) -> None:
        seen = await world.tell(Contribute())
        assert (seen.reasons, seen.schedule.overridden, seen.schedule.override_until) == ((), True, None)
        assert kinds(await world.tell(Resume())) == [Kind.OUTSIDE_SCHEDULE]

    play(scenario, "." * CELLS)


def test_a_stored_week_that_cannot_be_read_counts_as_off() -> None:
    assert Timetable("nonsense", lambda: BERLIN).outlook(berlin("2026-06-01T23:00")).level is Level.OFF


def test_the_limits_tell_what_gentle_hours_make_of_them(play: Play) -> None:
    async def scenario(world: World) -> None:
        commands = Commands(world.engine)
        full = {limit.name: limit for limit in await commands.carry_out(ShowLimits())}
        assert (full["threads"].in_force, full["threads"].why) == (0, None)
        assert (full["gentle.threads"].in_force, full["gentle.threads"].page) == (1, "processor")
        world.at("2026-06-02T06:30")
        gentle = {limit.name: limit for limit in await commands.carry_out(ShowLimits())}
        assert (gentle["threads"].in_force, gentle["threads"].why) == (1, "gentle hours")
        assert (gentle["gentle.threads"].in_force, gentle["gentle.threads"].why) == (1, None)
        await commands.carry_out(SetLimit("threads", 2))
        lower: LimitInfo = await commands.carry_out(SetLimit("gentle.threads", 3))
        assert (lower.value, lower.in_force, lower.why) == (3, 2, "threads is lower")
        assert world.engine.snapshot().limits.threads == 2

    play(scenario)


def test_a_week_is_told_set_refused_and_cleared_on_the_wire_and_survives(engine: RunningEngine) -> None:
    assert engine.start().ask(GetSchedule(), ScheduleInfo).preset == "always"
    assert engine.ask(SetSchedule("nights"), ScheduleInfo).cells == preset_cells("nights")
    for wrong in (SetSchedule(), SetSchedule("nights", WEEK), SetSchedule(cells="f"), SetSchedule(cells="")):
        with pytest.raises(UsageError, match="schedule"):
            engine.ask(wrong, ScheduleInfo)
    assert engine.ask(SetSchedule(cells=WEEK), ScheduleInfo).preset is None
    assert engine.quit() == 0
    assert engine.start().ask(GetSchedule(), ScheduleInfo).cells == WEEK
    assert engine.snapshot().schedule.next_at is not None
    assert engine.ask(ClearSchedule(), ScheduleInfo).preset == "always"
    assert engine.snapshot().schedule.next_at is None


def test_the_engine_follows_a_real_edge_by_itself(
    engine: RunningEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edge = int(time.time()) + 8
    monkeypatch.setenv("TZ", str(_zone_with_half_hour_at(edge, tmp_path)))
    local = time.gmtime(edge + _offset(edge))
    cell = (local.tm_wday * 1440 + local.tm_hour * 60 + local.tm_min) // 30
    marks = ["f"] * CELLS
    marks[cell] = "."
    engine.start().ask(SetSchedule(cells="".join(marks)), ScheduleInfo)
    engine.ask(Contribute(), NoneType)
    before = engine.until("contributing").schedule
    assert (before.level, before.next_level, before.next_at) == (Level.FULL, Level.OFF, edge)
    wait_for(lambda: engine.snapshot().schedule.level is Level.OFF, 15.0)
    assert time.time() - edge < 2.0
    assert kinds(engine.until("idle")) == [Kind.OUTSIDE_SCHEDULE]


def _offset(edge: int) -> int:
    """Seconds that local time must be ahead of UTC for `edge` to fall on a half hour."""
    return -edge % 1800


def _zone_with_half_hour_at(edge: int, folder: Path) -> Path:
    """A zone file (RFC 9636) with one offset, for ever."""
    header = struct.pack(">4sc15x6L", b"TZif", b"2", 0, 0, 0, 0, 1, 4)
    body = struct.pack(">lbB4s", _offset(edge), 0, 0, b"XXX\0")
    path = folder / "zone"
    path.write_bytes(header + body + header + body + b"\n\n")
    return path
