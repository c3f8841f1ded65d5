"""Asks a fork server for programs (`core.system.forking.server`)."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

if sys.platform == "win32":
    raise ImportError("Windows cannot fork")

LONGEST = 1 << 16
"""Bytes of a request or an answer."""


@dataclass
class Answer:
    """Of the request with this number: the subreaper's process id or, at its end, the exit code (minus the signal)."""

    number: int
    pid: int | None = None
    code: int | None = None


class Forked:
    """A program that `ForkServer.start` has begun: what is used of a `subprocess.Popen`."""

    def __init__(self, server: "ForkServer", command: Sequence[str], folder: Path, grace: float) -> None:
        reader, to_program = os.pipe()
        from_program, writer = os.pipe()
        try:
            self._number = server.ask(command, folder, grace, [reader, writer, 2])
        except OSError:
            os.close(to_program)
            os.close(from_program)
            raise
        finally:
            os.close(reader)
            os.close(writer)
        self.stdin, self.stdout = os.fdopen(to_program, "wb"), os.fdopen(from_program, "rb")
        self.returncode: int | None = None
        self._server, self._pid = server, 0

    def poll(self) -> int | None:
        self._read(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """
        Raises:
            subprocess.TimeoutExpired
        """
        deadline = time.monotonic() + timeout if timeout is not None else None
        while self.returncode is None:
            left = deadline - time.monotonic() if deadline is not None else None
            if left is not None and left <= 0:
                raise subprocess.TimeoutExpired("", timeout or 0.0)
            self._read(left)
        return self.returncode

    def terminate(self) -> None:
        self._read(0.0)
        if self.returncode is None and self._pid:
            os.kill(self._pid, signal.SIGTERM)

    def _read(self, timeout: float | None) -> None:
        """What the server has said meanwhile."""
        while self.returncode is None and select.select([self._server.wire], [], [], timeout)[0]:
            answer, timeout = self._server.read(), 0.0
            if answer is None:
                self.returncode = -signal.SIGKILL
            elif answer.number == self._number:
                self._pid, self.returncode = answer.pid or self._pid, answer.code


@dataclass
class ForkServer:
    """The end of the socket that asks."""

    wire: socket.socket
    _asked: int = field(default=0, init=False)

    def ask(self, command: Sequence[str], folder: Path, grace: float, streams: Sequence[int]) -> int:
        """Have `command`, which runs a module of Python, run with these descriptors as its standard streams; the
        request's number.

        Raises:
            OSError: the server has ended.
        """
        self._asked += 1
        request = json.dumps([self._asked, list(command), str(folder), grace])
        socket.send_fds(self.wire, [request.encode()], list(streams))
        return self._asked

    def start(self, command: Sequence[str], folder: Path, grace: float) -> Forked:
        """One program at a time. Its standard error is that of this process.

        Raises:
            OSError: the server has ended.
        """
        return Forked(self, command, folder, grace)

    def read(self) -> Answer | None:
        """The next answer; None if the server has ended."""
        try:
            received = self.wire.recv(LONGEST)
        except ConnectionResetError:
            return None
        return Answer(*json.loads(received)) if received else None
