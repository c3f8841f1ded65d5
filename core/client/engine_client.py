"""A blocking client of the engine, for scripts and the command line.

    home = Profile.from_environment()
    ensure_engine(home)
    with EngineClient.connect(home) as engine:
        engine.request(Contribute("practice"), NoneType)
        for message in engine.messages():
            print(message)

Times to wait are seconds; None waits for ever.
"""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import NoneType
from typing import Self, TypeVar

import msgspec

from core.api.errors import EngineGone, UsageError, WorldError
from core.api.message import Message
from core.api.protocol import (
    Command,
    EngineMessage,
    Event,
    GetSnapshot,
    Refusal,
    Reply,
    Request,
    Subscribe,
    encode,
    engine_decoder,
)
from core.api.snapshot import Snapshot
from core.client.profile import Profile

Result = TypeVar("Result")

_SOURCES = Path(__file__).resolve().parents[2]


class EngineClient:
    """One connection to a running engine. Not for use from several threads at once."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._received = bytearray()
        self._unread: deque[Snapshot | Event] = deque()
        self._requests = 0
        self._subscribed = False

    @classmethod
    def connect(cls, profile: Profile, timeout: float = 5.0) -> Self:
        """Connect to the engine of a profile.

        Raises:
            EngineGone: none is running.
            WorldError: there is one that may not be talked to.
        """
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(timeout)
        try:
            _check_owner(profile.socket)
            connection.connect(os.fspath(profile.socket))
        except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError):
            connection.close()
            raise EngineGone("engine_not_running") from None
        except OSError as error:
            connection.close()
            raise WorldError(
                "engine_unreachable", path=str(profile.socket), detail=error.strerror or str(error)
            ) from None
        return cls(connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def request(self, command: Command, result_type: type[Result], timeout: float | None = 60.0) -> Result:
        """Have a command carried out and return its result; `NoneType` where the reply is null.

        Raises:
            UsageError, WorldError: the engine refused.
            EngineGone: the engine ended, or did not answer within `timeout`.
        """
        self._requests += 1
        self._send(encode(Request(self._requests, command)))
        answer = self._answer(self._requests, _deadline(timeout))
        if isinstance(answer, Refusal):
            raise UsageError(answer.error) if answer.usage else WorldError(answer.error)
        try:
            return msgspec.convert(answer.result, result_type)
        except msgspec.ValidationError as error:
            raise WorldError("engine_other_version") from error

    def messages(self, tick: float | None = None) -> Iterator[Snapshot | Event | None]:
        """Snapshots and events from now on: the present snapshot first, then each as it comes.

        With `tick`, None is yielded whenever nothing has come for so long. Requests may be made in between.

        Raises:
            EngineGone: the engine ended.
        """
        if not self._subscribed:
            self.request(Subscribe(), NoneType)
            self._subscribed = True
        while True:
            yield self._unread.popleft() if self._unread else self._news(_deadline(tick))

    def _send(self, data: bytes) -> None:
        try:
            self._connection.sendall(data)
        except OSError as error:
            raise EngineGone("engine_ended") from error

    def _answer(self, number: int, deadline: float | None) -> Reply | Refusal:
        while message := self._receive(deadline):
            if isinstance(message, Snapshot | Event):
                self._unread.append(message)
            elif message.id == number:
                return message
        raise EngineGone("engine_silent")

    def _news(self, deadline: float | None) -> Snapshot | Event | None:
        while message := self._receive(deadline):
            if isinstance(message, Snapshot | Event):
                return message
        return None

    def _receive(self, deadline: float | None) -> EngineMessage | None:
        """The next message of any kind; None when there is none by the deadline."""
        while (end := self._received.find(b"\n")) < 0:
            data = self._read(deadline)
            if data is None:
                return None
            self._received += data
        text = bytes(self._received[:end])
        del self._received[: end + 1]
        try:
            message: EngineMessage = engine_decoder.decode(text)
        except msgspec.DecodeError as error:
            raise WorldError("engine_other_version") from error
        return message

    def _read(self, deadline: float | None) -> bytes | None:
        # A time-out of 0 would make the socket non-blocking, with other errors to handle.
        self._connection.settimeout(None if deadline is None else max(deadline - time.monotonic(), 0.001))
        try:
            data = self._connection.recv(1 << 16)
        except TimeoutError:
            return None
        except OSError as error:
            raise EngineGone("engine_ended") from error
        if not data:
            raise EngineGone("engine_ended")
        return data


def ensure_engine(profile: Profile, timeout: float = 20.0, command: Sequence[str] | None = None) -> bool:
    """Start the profile's engine if none is running; True if it was started here.

    It is detached: it outlives this process and its terminal. What it logs until it has a log of its own goes to
    `engine-start.log`; why it cannot start it says on its standard output. `command` replaces the engine's own command
    line.

    Raises:
        WorldError: it did not start.
    """
    if _engine_pid(profile) is not None:
        return False
    log = profile.logs / "engine-start.log"
    process = _start(profile, log, command or core_command("core.engine"))
    try:
        return _await_answer(profile, process, log, timeout)
    finally:
        if process.stdout is not None:
            process.stdout.close()


def _await_answer(profile: Profile, process: subprocess.Popen[bytes], log: Path, timeout: float) -> bool:
    """Whether it is this process that answers for the profile, and not another engine that was faster."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        pid = _engine_pid(profile)
        if pid is not None:
            return pid == process.pid
        if process.returncode is None and process.poll() is not None:
            # It may have lost against another engine that is just starting: that one gets a moment.
            deadline = min(deadline, time.monotonic() + 1.0)
        time.sleep(0.05)
    returncode = process.poll()
    _end(process)
    raise _why_not(process, log, returncode, timeout)


def core_command(module: str, *arguments: str) -> list[str]:
    """The command line that runs a module of core, whatever folder it is run in (see `core_environment`)."""
    return [sys.executable, "-P", "-m", module, *arguments]


def core_environment() -> dict[str, str]:
    """The environment for `core_command`: `-P` keeps a stranger's `core` folder out, this lets ours be found."""
    others = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{_SOURCES}{os.pathsep}{others}" if others else str(_SOURCES)}


def _start(profile: Profile, log: Path, command: Sequence[str]) -> subprocess.Popen[bytes]:
    try:
        profile.prepare()
        with log.open("wb") as errors:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=profile.path,
                env={**core_environment(), "IDLEHIVE_HOME": str(profile.path)},
                start_new_session=True,
            )
    except OSError as error:
        raise WorldError("engine_not_started", path=str(profile.path), detail=error.strerror or str(error)) from error


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(5.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _engine_pid(profile: Profile) -> int | None:
    """The process of the engine that answers, None if none listens."""
    try:
        client = EngineClient.connect(profile)
    except EngineGone:
        return None
    with client:
        return client.request(GetSnapshot(), Snapshot, timeout=10.0).engine_pid


def _why_not(process: subprocess.Popen[bytes], log: Path, returncode: int | None, timeout: float) -> WorldError:
    """From what the process, which has ended, said on its standard output, else from the last line of its log."""
    if returncode is None:
        return WorldError("engine_start_late", seconds=timeout, log=str(log))
    with contextlib.suppress(msgspec.DecodeError):
        return WorldError(msgspec.json.decode(process.communicate()[0], type=Message))
    lines = log.read_text(errors="replace").split("\n")
    last = next((text.strip() for text in reversed(lines) if text.strip()), "")
    if last:
        return WorldError("engine_start_failed", detail=last)
    return WorldError("engine_start_silent", code=returncode, log=str(log))


def _deadline(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout


def _check_owner(path: Path) -> None:
    # The socket may lie in the common temporary folder, where somebody else could have put theirs.
    if path.stat().st_uid != os.getuid():
        raise PermissionError(1, "it belongs to another user")
