"""The schedule in the engine: with a clock that a test sets, and once with the real one."""

import struct
import time
from pathlib import Path
from types import NoneType

import pytest

from core.api.errors import UsageError
from core.api.intent import Contribute
from core.api.message import Message
from core.api.preferences.commands import ListPreferences, PreferenceInfo, ResetPreference, SetPreference
from core.api.preferences.schedule import CELLS, Level
from core.api.preferences.week_text import preset_cells
from core.api.reasons import Kind
from core.engine.decision.preference_info import GENTLE_HOURS
from core.engine.server.commands import Commands
from tests.engine.world import NEW_YORK, WEEK, Play, World, berlin, kinds
from tests.fakes.running_engine import RunningEngine
from tests.waiting import wait_for


def test_a_change_of_level_reaches_the_running_session(play: Play) -> None:
    async def scenario(world: World) -> None:
        world.now = berlin("2026-06-02T05:59")
        await world.tell(Contribute())
        before = await world.until("contributing")
        assert (before.schedule.level, before.settings.limits.threads) == (Level.FULL, 0)
        gentle = world.at("2026-06-02T06:00")
        assert (gentle.state, gentle.session) == ("contributing", before.session)
        assert (gentle.schedule.level, gentle.settings.limits.threads) == (Level.GENTLE, 1)
        await world.wait_for(lambda: [command["type"] for command in world.heard()] == ["Start", "ApplySettings"])
        assert world.heard()[-1]["settings"]["limits"]["threads"] == 1  # type: ignore[index]  # limits are an object

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


def test_limits_show_the_value_that_applies_in_gentle_hours(play: Play) -> None:
    async def scenario(world: World) -> None:
        commands = Commands(world.engine, world.profile)
        full = {limit.name: limit for limit in await commands.carry_out(ListPreferences())}
        assert (full["threads"].effective, full["threads"].why) == (0, None)
        assert (full["gentle.threads"].effective, full["gentle.threads"].page) == (1, "processor")
        world.at("2026-06-02T06:30")
        gentle = {limit.name: limit for limit in await commands.carry_out(ListPreferences())}
        assert (gentle["threads"].effective, gentle["threads"].why) == (1, GENTLE_HOURS)
        assert (gentle["gentle.threads"].effective, gentle["gentle.threads"].why) == (1, None)
        await commands.carry_out(SetPreference("threads", 2))
        lower: PreferenceInfo = await commands.carry_out(SetPreference("gentle.threads", 3))
        assert (lower.value, lower.effective, lower.why) == (3, 2, Message("limit_lower", {"name": "threads"}))
        assert world.engine.snapshot().settings.limits.threads == 2

    play(scenario)


def test_a_week_is_set_refused_and_reset_on_the_wire_and_survives(engine: RunningEngine) -> None:
    assert engine.start().ask(SetPreference("week", WEEK), PreferenceInfo).value == WEEK
    for wrong in ("f", "", "x" * CELLS, 7):
        with pytest.raises(UsageError):
            engine.ask(SetPreference("week", wrong), PreferenceInfo)
    assert engine.quit() == 0
    assert engine.start().snapshot().schedule.next_at is not None
    assert engine.ask(ResetPreference("week"), PreferenceInfo).value == preset_cells("always")
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
    engine.start().ask(SetPreference("week", "".join(marks)), PreferenceInfo)
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
