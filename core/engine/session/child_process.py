"""A program under a subreaper, with lines of JSON on its stdin and stdout, and its stderr in a log of bounded size."""

import asyncio
import contextlib
import logging
import os
import secrets
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import cast

from core.api.errors import WorldError, detail_of
from core.api.message import Message
from core.client.installation import core_environment
from core.engine.machine.threads import in_thread
from core.engine.session.place import Here
from core.system import orphans
from core.system.orphans import TAG
from core.system.priority import raise_family

LONGEST_LINE = 1 << 20
_CRASHES = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL")
_LONGEST_LOG_LINE = 8 << 10
_CLEAN_UP_TIMEOUT = 5.0
_READ_TIMEOUT = 1.0
"""Seconds in which the pipe is read after the program's end."""

_HERE = Here()
_log = logging.getLogger(__name__)


class Child(asyncio.SubprocessProtocol):
    """A program and its descendants. Its lines go to `on_line`; `ended` is set when all processes have ended."""

    def __init__(self, folder: Path, on_line: Callable[[bytes], None], log: logging.Logger) -> None:
        self.folder = folder
        self.code: int | None = None
        """Exit code, or 128 + signal; None while it runs."""
        self.ended = asyncio.Event()
        self._on_line = on_line
        self._log = log
        self._transport: asyncio.SubprocessTransport
        self._partial = {1: bytearray(), 2: bytearray()}
        self._silent = asyncio.Event()
        self._finishing: asyncio.Task[None] | None = None

    @property
    def subreaper_pid(self) -> int | None:
        """None before it has begun."""
        return self._transport.get_pid() or None

    @property
    def pid(self) -> int | None:
        """The program's process, which is the subreaper's first child; None if it does not run."""
        import psutil

        if self.code is not None or self.subreaper_pid is None:
            return None
        if sys.platform == "win32":  # it runs in WSL, behind wsl.exe
            return self.subreaper_pid
        try:
            children = psutil.Process(self.subreaper_pid).children()
            return min(children, key=lambda process: process.create_time()).pid
        except (psutil.Error, ValueError):
            return None

    def send(self, line: bytes) -> None:
        """Write a line; does nothing if the program has ended."""
        stdin = self._stdin()
        if stdin is not None and not stdin.is_closing():
            stdin.write(line)

    def hasten(self) -> None:
        """It is about to end, and keeps memory until then: no longer at idle priority."""
        if self._transport.get_returncode() is None and self.subreaper_pid is not None:
            raise_family(self.subreaper_pid)

    def close_stdin(self) -> None:
        """Ask a program that reads until end of file to end."""
        if (stdin := self._stdin()) is not None:
            stdin.close()

    def kill(self) -> None:
        """Kill the whole process group, with the subreaper."""
        if self._transport.get_returncode() is None:
            self.hasten()
            with contextlib.suppress(ProcessLookupError):
                self._kill_group()

    def _kill_group(self) -> None:
        if sys.platform == "win32" or self.subreaper_pid is None:
            self._transport.kill()  # a subreaper inside WSL then reads the end of its input
        else:
            os.killpg(self.subreaper_pid, signal.SIGKILL)

    async def stop(self, grace: float) -> None:
        """Close stdin, kill the group if the program still runs after `grace` seconds, and wait for its end."""
        self.hasten()
        self.close_stdin()
        if self.subreaper_pid is None:
            self.kill()
        try:
            async with asyncio.timeout(grace):
                await self.ended.wait()
        except TimeoutError:
            self.kill()
            await self.ended.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        buffer = self._partial[fd]
        buffer += data
        *lines, rest = bytes(buffer).split(b"\n")
        buffer[:] = rest
        for line in lines:
            self._pass_on(fd, line)
        if fd == 1 and len(buffer) > LONGEST_LINE:
            _log.error("A line of more than %s bytes came from a session; it is ended.", LONGEST_LINE)
            buffer.clear()
            self.kill()
        elif fd == 2 and len(buffer) > _LONGEST_LOG_LINE:
            self._pass_on(fd, bytes(buffer))
            buffer.clear()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        if fd == 1:
            self._silent.set()

    def process_exited(self) -> None:
        self._finishing = asyncio.ensure_future(self._finish())

    async def _finish(self) -> None:
        code = self._transport.get_returncode() or 0
        if code < 0:
            # The subreaper itself was killed: its clean-up is done here.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                self._kill_group()
            with contextlib.suppress(TimeoutError):
                await in_thread(partial(orphans.kill_all, self.folder), _CLEAN_UP_TIMEOUT)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_READ_TIMEOUT):
                await self._silent.wait()
        self._transport.close()
        shutil.rmtree(self.folder, ignore_errors=True)  # a subreaper in WSL has one of its own
        self.code = code if code >= 0 else 128 - code
        self.ended.set()

    def _pass_on(self, fd: int, line: bytes) -> None:
        if fd == 1:
            self._on_line(line)
        else:
            self._log.info(line[:_LONGEST_LOG_LINE].decode(errors="replace").rstrip())

    def _stdin(self) -> asyncio.WriteTransport | None:
        pipe = self._transport.get_pipe_transport(0)
        return pipe if isinstance(pipe, asyncio.WriteTransport) else None


async def start_child(
    command: Sequence[str], runtime: Path, on_line: Callable[[bytes], None], name: str, place: Here = _HERE
) -> Child:
    """Start `command` in `place`, with a new session folder in `runtime`; its stderr goes to the log of `name`.

    Raises:
        WorldError: the process cannot be started.
    """
    folder = runtime / f"{orphans.FOLDER_PREFIX}{secrets.token_hex(3)}"
    starting = asyncio.ensure_future(_start(command, Child(folder, on_line, logging.getLogger(f"child.{name}")), place))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        # A start cannot be interrupted: the process is ended once it runs.
        await (await starting).stop(0.0)
        raise
    except OSError as error:
        raise WorldError("process_not_started", detail=detail_of(error)) from None


async def _start(command: Sequence[str], child: Child, place: Here) -> Child:
    # Created here too, so that the search for orphans knows the session from the start.
    child.folder.mkdir(mode=0o700)
    await place.start(child, command, child.folder, {**core_environment(), TAG: str(child.folder)})
    return child


def abnormal_end(code: int) -> Message:
    """The failure for an unexpected exit code."""
    if code > 128:
        with contextlib.suppress(ValueError):
            number = signal.Signals(code - 128)
            return Message("process_crashed" if number.name in _CRASHES else "process_killed", {"signal": number.name})
    return Message("process_ended", {"code": code})
