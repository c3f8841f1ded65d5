"""Connections to engines of other machines, over the system's OpenSSH.

`ssh HOST idlehive remote dial-stdio` joins its standard input and output to the engine's socket there, as docker and
podman do. No port is opened on either machine. SSH authenticates the host (known_hosts) and the volunteer (a key or an
agent; passwords are not asked for); the engine's socket is open to its own user alone, as ever.
"""

import contextlib
import os
import re
import socket
import subprocess
import threading
import time
from typing import IO

import msgspec

from core.api.errors import EngineGone, WorldError
from core.api.machines import Hello, Machine, NoEngine
from core.api.message import Message
from core.api.protocol import LONGEST_LINE
from core.client.installation import version

CONNECT_TIMEOUT = 15
"""Seconds in which a host has to answer."""
_HELLO_TIMEOUT = 60.0
"""Seconds in which Idlehive there has to answer; it may have to start its engine."""
_END_TIMEOUT = 5.0
"""Seconds in which ssh has to end before it is killed."""
_SSH_FAILED, _NOT_FOUND, _NOT_EXECUTABLE, _WRONG_USE = 255, 127, 126, 2
_LONGEST_GREETING = 1 << 16
"""Bytes that a shell there may print before Idlehive does."""
_ERRORS_KEPT = 1 << 16
"""Bytes of what ssh and the other machine say about a failure: the last ones."""
LONGEST_DOCUMENT = 128 << 20
"""Bytes of what is fetched: a history of 25 years of all hours."""
_OPTIONS = (
    "BatchMode=yes",  # nobody is there to answer a question
    "ClearAllForwardings=yes",
    "RemoteCommand=none",
    f"ConnectTimeout={CONNECT_TIMEOUT}",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "LogLevel=ERROR",
)
# What OpenSSH writes, which is never translated.
_FAILURES = {
    "REMOTE HOST IDENTIFICATION HAS CHANGED": "machine_host_changed",
    "Host key verification failed": "machine_host_unknown",
    "Permission denied": "machine_key_refused",
    "Could not resolve hostname": "machine_not_found",
}

_decoder = msgspec.json.Decoder(Hello | NoEngine)


class _Errors:
    """The last bytes that a process wrote about its failure. A thread reads, so the process never waits."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        stream, process.stderr = process.stderr, None  # the thread closes it
        self._kept = bytearray()
        self._reader = threading.Thread(target=self._read, args=(stream,), name="ssh errors", daemon=True)
        self._reader.start()

    def read(self) -> bytes:
        """All of them, once the process has ended. Blocks for up to a second, should another one hold its output."""
        self._reader.join(1.0)
        return bytes(self._kept)

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            while piece := os.read(stream.fileno(), _ERRORS_KEPT):
                self._kept += piece
                del self._kept[:-_ERRORS_KEPT]


class Tunnel:
    """A connection to the engine of another machine, and the ssh process that carries it."""

    def __init__(self, machine: Machine, connection: socket.socket, process: "subprocess.Popen[bytes]") -> None:
        self.machine = machine
        self.connection = connection
        self.hello: Hello | None = None
        """None until the other machine has answered."""
        self._process = process
        self._errors = _Errors(process)

    def failure(self) -> EngineGone:
        """Why the connection is closed. Blocks for up to two seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        written = self._errors.read().decode(errors="replace")
        return EngineGone(_failure(self.machine, self._process.poll(), written, answered=self.hello is not None))

    def other_version(self) -> WorldError:
        """Its messages have another form."""
        there = self.hello.version if self.hello else ""
        return WorldError("machine_other_version", machine=self.machine.name, there=there, here=version())

    def too_much(self) -> WorldError:
        """A message of it is longer than any that an engine sends."""
        return WorldError("machine_sends_too_much", machine=self.machine.name, most=LONGEST_LINE)

    def close(self) -> None:
        """Blocks for as long as ssh takes to end."""
        self.connection.close()
        self._process.terminate()
        try:
            self._process.wait(_END_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.read()


def command(machine: Machine, *words: str) -> list[str]:
    """The command line that runs `idlehive` with these words on the machine."""
    options = [part for option in _OPTIONS for part in ("-o", option)]
    user = ["-l", machine.user] if machine.user else []
    port = ["-p", str(machine.port)] if machine.port else []
    return ["ssh", "-T", "-x", "-a", *options, *user, *port, "--", machine.host, machine.program, *words]


def connect(machine: Machine, start: bool = False) -> Tunnel:
    """Connect to the engine of a machine; `start` starts it there if none is running. Blocks for seconds.

    Raises:
        EngineGone: none is running there.
        WorldError: the machine cannot be reached, or has no Idlehive that can be used.
    """
    ours, theirs = socket.socketpair()
    words = ("remote", "dial-stdio", *(["--start"] if start else []))
    pipe = theirs.fileno()
    try:
        process = subprocess.Popen(
            command(machine, *words), stdin=pipe, stdout=pipe, stderr=subprocess.PIPE, start_new_session=True
        )
    except OSError:
        ours.close()
        raise WorldError("ssh_missing") from None
    finally:
        theirs.close()
    tunnel = Tunnel(machine, ours, process)
    try:
        _read_hello(tunnel)
    except BaseException:  # also Ctrl-C: ssh would stay
        tunnel.close()
        raise
    return tunnel


def fetch(machine: Machine, *words: str, seconds: float) -> bytes:
    """The JSON object that `idlehive` prints with these words on the machine, without what the login prints before it.

    Raises:
        WorldError: it failed.
    """
    try:
        ended = _ended(command(machine, *words), seconds)
    except OSError:
        raise WorldError("ssh_missing") from None
    except subprocess.TimeoutExpired:
        raise WorldError("machine_silent", machine=machine.name) from None
    if len(ended.stdout) > LONGEST_DOCUMENT:
        raise WorldError("machine_sends_too_much", machine=machine.name, most=LONGEST_DOCUMENT)
    if ended.returncode:
        raise WorldError(_failure(machine, ended.returncode, ended.stderr.decode(errors="replace"), answered=False))
    begin = re.search(rb"^\{", ended.stdout, re.MULTILINE)
    return ended.stdout[begin.start() :] if begin else ended.stdout


def _ended(line: list[str], seconds: float) -> "subprocess.CompletedProcess[bytes]":
    """What a command printed, at most one byte more than a document has. Raises OSError, TimeoutExpired."""
    with subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        errors, deadline = _Errors(process), time.monotonic() + seconds
        watch = threading.Timer(seconds, process.kill)
        watch.start()
        try:
            printed = process.stdout.read(LONGEST_DOCUMENT + 1) if process.stdout else b""
            if len(printed) <= LONGEST_DOCUMENT:
                process.wait()
        finally:
            watch.cancel()
            process.kill()
    if time.monotonic() >= deadline:
        raise subprocess.TimeoutExpired(line, seconds)
    return subprocess.CompletedProcess(line, process.returncode, printed, errors.read())


def _read_hello(tunnel: Tunnel) -> None:
    """Skips what the login shell prints before it."""
    deadline = time.monotonic() + _HELLO_TIMEOUT
    line = bytearray()
    for _ in range(_LONGEST_GREETING):
        tunnel.connection.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            byte = tunnel.connection.recv(1)  # no more: the engine's own lines follow
        except TimeoutError:
            raise WorldError("machine_silent", machine=tunnel.machine.name) from None
        except OSError:
            byte = b""
        if not byte:
            raise WorldError(tunnel.failure().message)
        line += byte
        if byte != b"\n":
            continue
        with contextlib.suppress(msgspec.DecodeError):
            _take(tunnel, _decoder.decode(line))
            tunnel.connection.settimeout(None)
            return
        line.clear()
    raise WorldError("machine_silent", machine=tunnel.machine.name)


def _take(tunnel: Tunnel, first: Hello | NoEngine) -> None:
    if isinstance(first, Hello):
        tunnel.hello = first
    elif first.error.kind == "engine_not_running":
        raise EngineGone("machine_engine_not_running", machine=tunnel.machine.name)
    else:
        raise WorldError("machine_engine_unusable", machine=tunnel.machine.name, problem=first.error)


def _failure(machine: Machine, code: int | None, written: str, *, answered: bool) -> Message:
    """Why ssh ended. Pure."""
    named = {"machine": machine.name, "host": machine.host}
    lines = [line.strip() for line in written.splitlines() if line.strip()]
    detail = lines[-1].rstrip(".") if lines else ""
    if answered:
        return Message("machine_lost" if code else "machine_engine_ended", named)
    if code in (_NOT_FOUND, _NOT_EXECUTABLE):
        return Message("machine_without_idlehive", {**named, "program": machine.program})
    if code == _WRONG_USE:
        return Message("machine_too_old", named)
    for words, kind in _FAILURES.items():
        if code == _SSH_FAILED and words in written:
            return Message(kind, named)
    if code is None or code < 0 or code == _SSH_FAILED:
        return Message("machine_unreachable", {**named, "detail": detail})
    return Message("machine_engine_unusable", {**named, "problem": f"{detail or f'{machine.program}: {code}'}."})
