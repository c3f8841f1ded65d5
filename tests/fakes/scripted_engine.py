"""An engine that says what a test tells it to, on the real wire: the profile's Unix socket, one JSON object a line.

Two ways to use it:

* in a thread, driven by the test: `with ScriptedEngine(home) as engine: engine.show(snapshot); engine.received(Pause)`;
* as a process of its own, driven by a file: `IDLEHIVE_HOME=… python -m tests.fakes.scripted_engine script.json`, for
  tests that need an engine to start or to kill. `Script` is the file's form.
"""

import os
import signal
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from core.api.disk import DiskUse
from core.api.errors import IdlehiveError, UsageError, WorldError
from core.api.identity import IdentityInfo
from core.api.preferences.preferences import PREFERENCES
from core.api.protocol import (
    Command,
    EngineMessage,
    Event,
    GetSnapshot,
    Quit,
    QuitUnused,
    Refusal,
    Reply,
    Subscribe,
    encode,
    request_decoder,
)
from core.api.record.record import Cost, Habits, Overview, Sums
from core.api.snapshot import Snapshot
from core.client.profile import Profile
from tests.preferences import info

Answer = Any | IdlehiveError | Callable[[Any], Any]
Sent = TypeVar("Sent", bound=Command)


class Script(msgspec.Struct, frozen=True):
    """What the process says: the snapshots in turn, `every` seconds apart, the last one stays."""

    snapshots: tuple[Snapshot, ...] = (Snapshot(state="idle"),)
    """`engine_pid` is filled in: whoever kills the engine must not meet another process."""
    every: float = 0.5
    replies: dict[str, Any] = {}
    """Result by the name of the command, as JSON."""
    refusals: dict[str, str] = {}
    """Error by the name of the command; answered as a wrong use."""
    start_delay: float = 0.0
    """Seconds before the socket is there."""


class ScriptedEngine:
    """A server in its own thread. Everything may be called from any thread."""

    def __init__(self, profile: Profile, snapshot: Snapshot | None = None) -> None:
        self.home = profile
        self._snapshot = snapshot or Snapshot(state="idle", engine_pid=os.getpid(), version="0.1.0")
        self._answers: dict[str, Answer] = {
            "ListProjects": [],
            "ListPreferences": [info(name) for name in PREFERENCES],
            "GetCurve": [],
            "GetHistory": [],
        }
        self._answers["GetIdentity"] = IdentityInfo("0" * 64)
        nothing = Overview(0.0, 0.0, None, Sums(), 0, Cost(), (), "day", (), 2026, (), (0.0,) * 365, ())
        self._answers |= {
            "GetOverview": nothing,
            "GetHabits": Habits((0.0,) * 168, {}, {}),
            "GetSessions": [],
            "GetEvents": [],
            "GetSensors": [],
        }
        self._answers["GetDiskUse"] = DiskUse(0, 0, 0, 0, 0, 0, 0, 0)
        self._commands: list[Command] = []
        self._changed = threading.Condition()
        self._connections: set[_Connection] = set()
        self._server: _Server | None = None
        self.hanging = threading.Event()
        """Set: connections stay open and nothing is answered, as an engine that is stuck."""
        self.ended = threading.Event()
        """Set once a front end sent Quit."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Listen on the profile's socket. Clients may connect when this returns."""
        self.home.prepare()
        self.home.socket.unlink(missing_ok=True)
        self._server = _Server(self)
        self.home.socket.chmod(0o600)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), name="scripted engine", daemon=True).start()

    def stop(self) -> None:
        """Close every connection and the socket at once, as a killed engine does. Harmless when not running."""
        server, self._server = self._server, None
        if server is None:
            return
        server.shutdown()
        server.server_close()
        self.home.socket.unlink(missing_ok=True)
        for connection in self._open_connections():
            connection.hang_up()

    def show(self, snapshot: Snapshot) -> None:
        """Make `snapshot` the present one and send it to all who subscribed."""
        with self._changed:
            self._snapshot = snapshot
        self._broadcast(snapshot)

    def tell(self, event: Event) -> None:
        """Send `event` to all who subscribed."""
        self._broadcast(event)

    def answer(self, command: type[Command] | str, answer: Answer) -> None:
        """What to reply to a kind of command, given by its class or name, from now on.

        A value is the reply's result; a UsageError or WorldError becomes a Refusal; a function is called with the
        command and may return a value or raise either. Before, commands are answered with null or an empty list.
        """
        self._answers[command if isinstance(command, str) else command.__name__] = answer

    def received(self, kind: type[Sent]) -> list[Sent]:
        """The commands of this kind that arrived so far, oldest first."""
        with self._changed:
            return [command for command in self._commands if isinstance(command, kind)]

    def wait_for(self, kind: type[Sent], count: int = 1, seconds: float = 5.0) -> Sent:
        """The `count`-th command of this kind, once it has arrived.

        Raises:
            TimeoutError: it did not come within `seconds`.
        """
        deadline = time.monotonic() + seconds
        with self._changed:
            while len(found := [command for command in self._commands if isinstance(command, kind)]) < count:
                left = deadline - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    raise TimeoutError(f"{count} {kind.__name__} expected, {len(found)} came: {self._commands}")
            return found[count - 1]

    def handle(self, line_received: bytes, connection: "_Connection") -> None:
        """Carry out one request of `connection`."""
        request = request_decoder.decode(line_received)
        with self._changed:
            self._commands.append(request.command)
            self._changed.notify_all()
        if self.hanging.is_set():
            return
        connection.send(self._reply(request.id, request.command))
        if isinstance(request.command, Subscribe):
            connection.subscribed = True
            connection.send(self._snapshot)
        if isinstance(request.command, Quit | QuitUnused):
            self.ended.set()
            threading.Thread(target=self.stop).start()

    def add(self, connection: "_Connection") -> None:
        with self._changed:
            self._connections.add(connection)

    def remove(self, connection: "_Connection") -> None:
        with self._changed:
            self._connections.discard(connection)

    def _reply(self, number: int, command: Command) -> Reply | Refusal:
        answer = self._answers.get(type(command).__name__)
        if answer is None and isinstance(command, GetSnapshot):
            answer = self._snapshot
        if answer is None and isinstance(command, QuitUnused):
            answer = True  # nobody else follows it
        try:
            result = answer(command) if callable(answer) else answer
            if isinstance(result, IdlehiveError):
                raise result
        except (UsageError, WorldError) as error:
            return Refusal(number, error.message, usage=isinstance(error, UsageError))
        return Reply(number, result)

    def _broadcast(self, message: EngineMessage) -> None:
        for connection in self._open_connections():
            if connection.subscribed and not self.hanging.is_set():
                connection.send(message)

    def _open_connections(self) -> list["_Connection"]:
        with self._changed:
            return list(self._connections)


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, engine: ScriptedEngine) -> None:
        self.engine = engine
        super().__init__(str(engine.home.socket), _Connection)


class _Connection(socketserver.StreamRequestHandler):
    """One front end."""

    server: _Server

    def setup(self) -> None:
        super().setup()
        self.subscribed = False
        self._sending = threading.Lock()
        self.server.engine.add(self)

    def handle(self) -> None:
        try:
            for received in self.rfile:
                self.server.engine.handle(received, self)
        except (OSError, ValueError):
            return  # hung up in the middle of a line, by either side

    def finish(self) -> None:
        self.server.engine.remove(self)
        with suppress(OSError):
            super().finish()

    def send(self, message: EngineMessage) -> None:
        try:
            with self._sending:
                self.wfile.write(encode(message))
        except (OSError, ValueError):
            self.server.engine.remove(self)

    def hang_up(self) -> None:
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            self.server.engine.remove(self)


def run(script: Script, profile: Profile) -> None:
    """Play `script` until a front end sends Quit or SIGTERM comes."""
    time.sleep(script.start_delay)
    snapshots = [msgspec.structs.replace(snapshot, engine_pid=os.getpid()) for snapshot in script.snapshots]
    with ScriptedEngine(profile, snapshots[0]) as engine:
        signal.signal(signal.SIGTERM, lambda *_: engine.ended.set())
        for name, result in script.replies.items():
            engine.answer(name, result)
        for name, error in script.refusals.items():
            engine.answer(name, UsageError(error))
        for snapshot in snapshots[1:]:
            if engine.ended.wait(script.every):
                return
            engine.show(snapshot)
        engine.ended.wait()


if __name__ == "__main__":
    text = Path(sys.argv[1]).read_bytes() if len(sys.argv) > 1 else b"{}"
    run(msgspec.json.decode(text, type=Script), Profile.from_environment())
