"""Programs that the engine has forked from a process with their libraries: real servers, pipes and ends."""

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.client.installation import core_command
from core.engine.session.child_process import Child, start_child
from core.engine.session.preloaded import Preloaded, _Forked
from core.system.orphans import kill_all, processes_of
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fork servers are for Linux")
_PROGRAM = core_command("tests.fakes.forking.forked_program", "one")
_LONGEST = 15.0


class Started:
    """A program and what it said."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[bytes] = asyncio.Queue()
        self.child: Child

    async def about(self) -> dict[str, Any]:
        return dict(json.loads(await asyncio.wait_for(self.lines.get(), _LONGEST)))

    async def pid(self) -> int | None:
        """The server's answer may come after the program's first line."""
        return await asyncio.to_thread(wait_for, lambda: self.child.pid)


async def started(place: Preloaded, runtime: Path) -> Started:
    program = Started()
    program.child = await start_child(_PROGRAM, runtime, program.lines.put_nowait, "test", place)
    return program


def servers(runtime: Path) -> list[psutil.Process]:
    return [process for process in processes_of(runtime) if "core.system.forking.server" in process.cmdline()]


@pytest.fixture
def scenario(tmp_path: Path) -> Iterator[Callable[[Callable[[Preloaded], Awaitable[None]]], None]]:
    def run(act: Callable[[Preloaded], Awaitable[None]], libraries: str = "colorsys") -> None:
        async def acted() -> None:
            await act(Preloaded(core_command("core.system.forking.server"), tmp_path, libraries))

        asyncio.run(acted())
        wait_for(lambda: not processes_of(tmp_path), 10, "all processes have ended")
        assert list(tmp_path.iterdir()) == []

    yield run
    kill_all(tmp_path)


Scenario = Callable[..., None]


def test_two_programs_come_from_one_server_which_ends_with_the_last(tmp_path: Path, scenario: Scenario) -> None:
    async def act(place: Preloaded) -> None:
        first, second = await asyncio.gather(started(place, tmp_path), started(place, tmp_path))
        one, two = await first.about(), await second.about()
        assert one["has_loaded"]
        assert one["session"] != two["session"] == str(second.child.folder)
        assert (await first.pid(), await second.pid()) == (one["pid"], two["pid"])
        (server,) = servers(tmp_path)
        first.child.send(b"7\n")
        await asyncio.wait_for(first.child.ended.wait(), _LONGEST)
        assert first.child.code == 7
        assert servers(tmp_path) == [server]
        await second.child.stop(_LONGEST)
        assert second.child.code == 0
        third = await started(place, tmp_path)
        assert (await third.about())["has_loaded"]
        assert servers(tmp_path) != [server]
        await third.child.stop(_LONGEST)

    scenario(act)


def test_a_program_that_does_not_end_is_killed_with_its_group(tmp_path: Path, scenario: Scenario) -> None:
    async def act(place: Preloaded) -> None:
        program = await started(place, tmp_path)
        await program.about()
        program.child.send(b"straggle\n")
        straggler = psutil.Process(int(await asyncio.wait_for(program.lines.get(), _LONGEST)))
        assert straggler in processes_of(program.child.folder)
        program.child.kill()
        await asyncio.wait_for(program.child.ended.wait(), _LONGEST)
        assert program.child.code == 128 + signal.SIGKILL
        assert processes_of(program.child.folder) == []

    scenario(act)


def test_when_the_server_is_killed_its_programs_have_ended_too(tmp_path: Path, scenario: Scenario) -> None:
    async def act(place: Preloaded) -> None:
        program = await started(place, tmp_path)
        await program.about()
        os.kill(servers(tmp_path)[0].pid, signal.SIGKILL)
        await asyncio.wait_for(program.child.ended.wait(), _LONGEST)
        assert program.child.code == 128 + signal.SIGKILL
        other = await started(place, tmp_path)
        assert (await other.about())["has_loaded"]
        await other.child.stop(_LONGEST)

    scenario(act)


def test_a_program_that_waits_for_its_libraries_can_be_stopped_at_once(tmp_path: Path, scenario: Scenario) -> None:
    async def act(place: Preloaded) -> None:
        program = await started(place, tmp_path)
        assert program.child.pid is None
        await program.child.stop(600.0)
        assert program.lines.empty()

    scenario(act, "tests.fakes.forking.endless_module")


def test_a_program_that_ended_before_it_could_be_killed_is_no_error(tmp_path: Path) -> None:
    with subprocess.Popen(["true"], start_new_session=True) as program:
        program.wait()

    async def act() -> None:
        forked = _Forked(Child(tmp_path, lambda _line: None, logging.getLogger("child.test")))
        forked.kill()
        forked.begin(program.pid)
        forked.close()

    asyncio.run(act())


def test_libraries_that_cannot_be_loaded_end_the_program(tmp_path: Path, scenario: Scenario) -> None:
    async def act(place: Preloaded) -> None:
        program = await started(place, tmp_path)
        await asyncio.wait_for(program.child.ended.wait(), _LONGEST)
        assert program.child.code == 128 + signal.SIGKILL

    scenario(act, "no_such_module")
