"""A blocking client of the engine, for scripts and the command line.

    home = Profile.from_environment()
    ensure_engine(home)
    with EngineClient.connect(home) as engine:
        engine.request(Contribute("practice"), NoneType)
        for message in engine.messages():
            print(message)

Timeouts are seconds; None waits for ever.
"""

import contextlib
import socket
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Self, TypeVar

import msgspec

from core.api import protocol
from core.api.errors import EngineGone, UsageError, WorldError, detail_of, os_errors_as
from core.api.message import Message
from core.api.snapshot import Snapshot
from core.client import engine_socket
from core.client.installation import core_command, core_environment
from core.client.profile import Profile

if TYPE_CHECKING:
    # Imported inside the functions: most commands find an engine that runs here, and are asked again and again.
    import subprocess

    from core.client.ssh import Tunnel

Result = TypeVar("Result")

_MOST_LINES = 2
"""Longest lines of messages of every kind that come before a reply, at most."""
_OTHERS_START = 1.0
"""Seconds in which another engine, to which this one gave way, has to answer."""


class EngineClient:
    """A connection to a running engine; for one thread at a time."""

    def __init__(self, connection: socket.socket, tunnel: "Tunnel | None" = None) -> None:
        self._connection = connection
        self._tunnel = tunnel
        self._received = bytearray()
        self._taken = 0
        """Bytes of all messages so far."""
        self._unread: deque[Snapshot | protocol.Event] = deque()
        self._requests = 0
        self._subscribed = False

    @classmethod
    def connect(cls, profile: Profile, timeout: float = 5.0) -> Self:
        """Connect to the engine of a profile, or of the other machine that it names.

        Raises:
            EngineGone: none is running.
            WorldError: the socket belongs to another user, or the machine cannot be reached.
        """
        if profile.machine is None:
            return cls(connect_socket(profile, timeout))
        from core.client.ssh import connect as connect_over_ssh

        tunnel = connect_over_ssh(profile.machine)
        return cls(tunnel.connection, tunnel)

    @classmethod
    def open(cls, profile: Profile) -> tuple[Self, bool]:
        """Connect, after starting the engine if none is running; and whether it was started.

        Raises:
            WorldError: it did not start, or cannot be reached.
        """
        if profile.machine is None:
            started = ensure_engine(profile)
            return cls.connect(profile), started
        from core.client.ssh import connect as connect_over_ssh

        tunnel = connect_over_ssh(profile.machine, start=True)
        return cls(tunnel.connection, tunnel), tunnel.hello is not None and tunnel.hello.started

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()
        if self._tunnel is not None:
            self._tunnel.close()

    def request(self, command: protocol.Command, result_type: type[Result], timeout: float | None = 60.0) -> Result:
        """Send a command and return its result; `result_type` is `NoneType` where the reply is null.

        Raises:
            UsageError, WorldError: the engine refused.
            EngineGone: the engine ended, or did not answer within `timeout`.
        """
        self._requests += 1
        self._send(protocol.encode(protocol.Request(self._requests, command)))
        answer = self._answer(self._requests, _deadline(timeout))
        if isinstance(answer, protocol.Refusal):
            raise UsageError(answer.error) if answer.usage else WorldError(answer.error)
        try:
            return msgspec.convert(answer.result, result_type)
        except msgspec.ValidationError as error:
            raise self._other_version() from error

    def messages(self, tick: float | None = None) -> Iterator[Snapshot | protocol.Event | None]:
        """The present snapshot, then snapshots and events as they come.

        With `tick`, yields None after that many seconds without a message. Requests may be made in between.

        Raises:
            EngineGone: the engine ended.
        """
        if not self._subscribed:
            self.request(protocol.Subscribe(), NoneType)
            self._subscribed = True
        while True:
            yield self._unread.popleft() if self._unread else self._pushed(_deadline(tick))

    def _send(self, data: bytes) -> None:
        try:
            self._connection.sendall(data)
        except OSError as error:
            raise self._gone() from error

    def _answer(self, number: int, deadline: float | None) -> protocol.Reply | protocol.Refusal:
        before = self._taken
        while message := self._receive(deadline):
            if self._taken - before > _MOST_LINES * protocol.LONGEST_LINE:
                raise self._too_much()
            if isinstance(message, Snapshot | protocol.Event):
                self._unread.append(message)
            elif message.id == number:
                return message
        raise EngineGone("engine_silent")

    def _pushed(self, deadline: float | None) -> Snapshot | protocol.Event | None:
        while message := self._receive(deadline):
            if isinstance(message, Snapshot | protocol.Event):
                return message
        return None

    def _receive(self, deadline: float | None) -> protocol.EngineMessage | None:
        """The next message of any kind; None when there is none by the deadline."""
        while (end := self._received.find(b"\n")) < 0:
            if len(self._received) > protocol.LONGEST_LINE:
                raise self._too_much()
            data = self._read(deadline)
            if data is None:
                return None
            self._received += data
        text = bytes(self._received[:end])
        del self._received[: end + 1]
        self._taken += end + 1
        try:
            message: protocol.EngineMessage = protocol.engine_decoder.decode(text)
        except msgspec.DecodeError as error:
            raise self._other_version() from error
        return message

    def _read(self, deadline: float | None) -> bytes | None:
        # A time-out of 0 would make the socket non-blocking, with other errors to handle.
        self._connection.settimeout(None if deadline is None else max(deadline - time.monotonic(), 0.001))
        try:
            data = self._connection.recv(1 << 16)
        except TimeoutError:
            return None
        except OSError as error:
            raise self._gone() from error
        if not data:
            raise self._gone()
        return data

    def _gone(self) -> EngineGone:
        return self._tunnel.failure() if self._tunnel else EngineGone("engine_ended")

    def _too_much(self) -> WorldError:
        return self._tunnel.too_much() if self._tunnel else self._other_version()

    def _other_version(self) -> WorldError:
        return self._tunnel.other_version() if self._tunnel else WorldError("engine_other_version")


def connect_socket(profile: Profile, timeout: float = 5.0) -> socket.socket:
    """A connection to the engine of a profile on this machine; raises as `EngineClient.connect`."""
    try:
        return engine_socket.connect(profile.socket, timeout)
    except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError):
        raise EngineGone("engine_not_running") from None
    except OSError as error:
        raise WorldError("engine_unreachable", path=str(profile.socket), detail=detail_of(error)) from None


def ensure_engine(profile: Profile, timeout: float = 20.0, command: Sequence[str] | None = None) -> bool:
    """Start the profile's engine if none is running; returns whether it was started.

    The engine outlives this process and its terminal. It logs to `engine-start.log` until its own log is open, and
    reports a failed start on standard output. `command` replaces its command line.

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


def _await_answer(profile: Profile, process: "subprocess.Popen[bytes]", log: Path, timeout: float) -> bool:
    """Whether this process became the profile's engine; False if another one did."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        pid = _engine_pid(profile)
        if pid is not None:
            return pid == process.pid
        if process.returncode is None and process.poll() is not None:
            # Another engine may be starting and hold the lock already: wait for it.
            deadline = min(deadline, time.monotonic() + _OTHERS_START)
        time.sleep(0.05)
    returncode = process.poll()
    _end(process)
    raise _start_error(process, log, returncode, timeout)


def _start(profile: Profile, log: Path, command: Sequence[str]) -> "subprocess.Popen[bytes]":
    import subprocess

    with os_errors_as("engine_not_started", path=str(profile.path)):
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


def _end(process: "subprocess.Popen[bytes]") -> None:
    from subprocess import TimeoutExpired

    process.terminate()
    try:
        process.wait(5.0)
    except TimeoutExpired:
        process.kill()
        process.wait()


def _engine_pid(profile: Profile) -> int | None:
    """Process id of the running engine; None if none listens."""
    try:
        client = EngineClient.connect(profile)
    except EngineGone:
        return None
    with client:
        return client.request(protocol.GetSnapshot(), Snapshot, timeout=10.0).engine_pid


def _start_error(process: "subprocess.Popen[bytes]", log: Path, returncode: int | None, timeout: float) -> WorldError:
    """Why the process has ended: its message on standard output, else the last line of its log."""
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
