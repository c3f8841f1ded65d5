"""An engine in this process, with a clock and a zone that a test sets."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from datetime import datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from core.api.preferences.week_text import parse
from core.api.protocol import Command
from core.api.snapshot import Snapshot
from core.client.profile import Profile
from core.conditions.machine import Machine
from core.engine.engine import Engine
from core.engine.machine import profile_lock
from core.engine.server.commands import Commands
from core.engine.session.commands import Programs
from core.store.store import Store
from tests.fakes import scripted_host, scripted_trainer
from tests.fakes.running_engine import FAKES

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
        self.profile = Profile(heard.parent)
        self._commands = Commands(engine, self.profile)
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
    profile = Profile(folder / "home")
    lock = ExitStack()
    lock.enter_context(profile_lock.held(profile))
    store = Store(profile.database)
    store.preferences.set("week", week)
    scripts = (str(FAKES / "scripted_trainer.py"), str(FAKES / "scripted_host.py"))
    programs = Programs([sys.executable, scripts[0]], [sys.executable, scripts[1]])
    worlds: list[World] = []
    engine = Engine(
        profile,
        store,
        programs,
        Machine({}),
        lambda: worlds[0].now if worlds else NIGHT,
        read_zone=lambda: worlds[0].zone if worlds else BERLIN,
    )
    worlds.append(World(engine, heard))
    try:
        # Without `engine.start`: its alarms follow the real clock.
        engine.sensor_thread.start()
        await worlds[0].wait_for(lambda: engine.sensor_thread.ready)
        yield worlds[0]
    finally:
        await engine.close()
        store.close()
        lock.close()


Scenario = Callable[[World], Awaitable[None]]
Play = Callable[..., None]


def kinds(snapshot: Snapshot) -> list[str]:
    return [reason.kind for reason in snapshot.reasons]
