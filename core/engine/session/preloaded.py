"""Runs the programs of the practice project in processes that are forked from one which has loaded their libraries.

It is started for the first of them and ends with the last.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import cast

from core.client.installation import core_command
from core.engine.session.place import Here
from core.system import orphans
from core.system.forking.requests import Answer, ForkServer
from core.system.forking.shown_process import reserve
from core.system.priority import PROMPTLY
from core.system.subreaper import GRACE

if sys.platform == "win32":
    raise ImportError("Windows cannot fork")

_LIBRARIES = "core.preload"
_LAUNCHER = "core.runtime.launch"
_log = logging.getLogger("child.trainer")


class Preloaded(Here):
    """Used in the event loop only."""

    def __init__(self, command: Sequence[str], runtime: Path, libraries: str = _LIBRARIES) -> None:
        """`command` starts a fork server, and `libraries` is the module that it loads; its folder is made in
        `runtime`."""
        self._command, self._runtime, self._libraries = command, runtime, libraries
        self._server: _Server | None = None
        self._starting = asyncio.Lock()

    async def start(
        self, program: asyncio.SubprocessProtocol, command: Sequence[str], folder: Path, environment: dict[str, str]
    ) -> None:
        if _LAUNCHER in command:
            # The server has been launched, with the libraries of the compute runtime.
            _folder, *module = command[command.index(_LAUNCHER) + 1 :]
            command = core_command(*module)
        forked = _Forked(program)
        theirs = await forked.open_pipes()
        try:
            async with self._starting:
                if self._server is None or self._server.has_ended:
                    self._server = await self._start_server(environment, promptly=PROMPTLY in command)
            # At once: a server ends with its last program.
            self._server.run(forked, command, folder, theirs)
        except OSError:
            forked.close()
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)

    async def _start_server(self, environment: dict[str, str], *, promptly: bool) -> "_Server":
        folder = self._runtime / f"{orphans.FOLDER_PREFIX}{secrets.token_hex(3)}"
        folder.mkdir(mode=0o700)
        command = [*self._command, self._libraries, *([PROMPTLY] if promptly else [])]
        command, environment = reserve(command, {**environment, orphans.TAG: str(folder)})
        own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            own.setblocking(False)
            server = _Server(own, folder)
            await asyncio.get_running_loop().subprocess_exec(
                lambda: server,
                *command,
                env=environment,
                stdin=other.fileno(),
                stdout=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        return server


class _Server(asyncio.SubprocessProtocol):
    """The fork server, as long as programs run that come from it."""

    def __init__(self, wire: socket.socket, folder: Path) -> None:
        self.has_ended = False
        self._wire, self._asking, self._folder = wire, ForkServer(wire), folder
        self._running = dict[int, _Forked]()
        """By the number of its request."""
        self._process: asyncio.SubprocessTransport | None = None
        asyncio.get_running_loop().add_reader(wire, self._read)

    def run(self, forked: "_Forked", command: Sequence[str], folder: Path, streams: Sequence[int]) -> None:
        self._running[self._asking.ask(command, folder, GRACE, streams)] = forked
        forked.give_up = self._kill_unless_used

    def _kill_unless_used(self) -> None:
        """A program is killed while it waits for its libraries: the server can only be killed with it."""
        if not any(forked.get_pid() for forked in self._running.values()):
            self._end()

    def _read(self) -> None:
        while not self.has_ended:
            try:
                answer = self._asking.read()
            except BlockingIOError:
                return
            if answer is None:
                self._end()
            else:
                self._pass_on(answer)

    def _pass_on(self, answer: Answer) -> None:
        if answer.pid is not None:
            self._running[answer.number].begin(answer.pid)
        if answer.code is not None:
            self._running.pop(answer.number).end(answer.code)
        if not self._running:
            self._end()

    def _end(self) -> None:
        """Without the server, nobody learns how the programs that still run end: they count as killed."""
        if self.has_ended:
            return
        self.has_ended = True
        asyncio.get_running_loop().remove_reader(self._wire)
        self._wire.close()
        if self._process is not None:
            self._process.close()  # kills it
        shutil.rmtree(self._folder, ignore_errors=True)
        for forked in self._running.values():
            forked.end(-signal.SIGKILL)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._process = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: ARG002 - asyncio's signature
        _log.info(data.decode(errors="replace").rstrip())


class _Forked(asyncio.SubprocessTransport):
    """What a subprocess of asyncio has: a process that another one forks, and its pipes."""

    def __init__(self, program: asyncio.SubprocessProtocol) -> None:
        super().__init__()
        self._program = program
        self.give_up: Callable[[], None] = lambda: None
        """Called when it is killed before it has begun."""
        self._pipes = dict[int, asyncio.BaseTransport]()
        self._pid, self._code, self._is_unwanted = 0, cast("int | None", None), False
        program.connection_made(self)

    async def open_pipes(self) -> list[int]:
        """The program's ends of its standard streams."""
        loop = asyncio.get_running_loop()
        reader, writer = os.pipe()
        self._pipes[0], _ = await loop.connect_write_pipe(asyncio.Protocol, os.fdopen(writer, "wb", 0))
        theirs = [reader]
        for number in (1, 2):
            reader, writer = os.pipe()
            output = partial(_Output, self._program, number)
            self._pipes[number], _ = await loop.connect_read_pipe(output, os.fdopen(reader, "rb", 0))
            theirs.append(writer)
        return theirs

    def begin(self, pid: int) -> None:
        self._pid = pid
        if self._is_unwanted:
            self.kill()

    def end(self, code: int) -> None:
        self._code = code
        self._program.process_exited()

    def get_pid(self) -> int:
        """0: not forked yet."""
        return self._pid

    def get_returncode(self) -> int | None:
        return self._code

    def get_pipe_transport(self, fd: int) -> asyncio.BaseTransport | None:
        return self._pipes.get(fd)

    def kill(self) -> None:
        """Kill it with its group, or give it up if it has not begun."""
        self._is_unwanted = True
        if self._pid:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._pid, signal.SIGKILL)
        else:
            self.give_up()

    def close(self) -> None:
        for pipe in self._pipes.values():
            pipe.close()


class _Output(asyncio.Protocol):
    """One of its pipes."""

    def __init__(self, program: asyncio.SubprocessProtocol, number: int) -> None:
        self._program, self._number = program, number

    def data_received(self, data: bytes) -> None:
        self._program.pipe_data_received(self._number, data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._program.pipe_connection_lost(self._number, exc)
