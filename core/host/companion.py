"""A trainer that the backbone runs, so that a single volunteer has another peer."""

import contextlib
import logging
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, cast

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hivemind.p2p import PeerID

from core.api.message import Message
from core.api.project.manifest import Manifest
from core.api.session import ApplySettings, Fault, Hold, Leave, Resume, Start, TrainerCommand, encode, report_decoder
from core.api.session_settings import SessionSettings
from core.client.installation import core_command
from core.system import orphans
from core.system.atomic_file import write_atomically
from core.system.backoff import FORGIVEN_AFTER, backoff
from core.system.forking.requests import Forked, ForkServer

log = logging.getLogger(__name__)

_TIME_TO_LEAVE = 5.0
_GRACE = 1.0
"""Seconds more, after SIGTERM."""
_NAME = "The backbone's companion"


class Companion:
    """A trainer that computes only while others do, restarted when it ends by itself.

    It runs under the subreaper, so that a killed trainer leaves no process with the next one's identity.
    """

    def __init__(
        self,
        manifest: Manifest,
        state: Path,
        session_folder: Path,
        *,
        program: Sequence[str] = (),
        fork_server: ForkServer | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Tests replace the trainer (`program`) and the monotonic clock, in seconds. A fork server starts it without
        loading libraries again."""
        self._program = program or core_command("core.trainer")
        self._fork_server = fork_server
        self._folder = session_folder
        self._clock = clock
        self._key = state / "companion.key"
        self._identity: bytes | None = None
        volunteer = state / "companion-volunteer.key"
        if not volunteer.exists():
            write_atomically(volunteer, Ed25519PrivateKey.generate().private_bytes_raw())
        self._start = Start(
            manifest,
            identity=str(self._key),
            volunteer=str(volunteer),
            settings=SessionSettings(display_name=_NAME),
            cache=str(state / "companion-cache"),
            session_folder=str(session_folder),
        )
        self._lock = threading.Lock()
        self._working = False
        self._ends = 0
        """Trainers in a row that ended by themselves."""
        self._retry_at: float | None = None
        self._launch()

    @property
    def identity(self) -> bytes | None:
        """Its peer id; None until it has made its key."""
        if self._identity is None:
            # Once: to check a key takes tens of milliseconds, in which a pause would not have reached the companion.
            with contextlib.suppress(FileNotFoundError):
                self._identity = bytes(PeerID.from_identity(self._key.read_bytes()).to_bytes())
        return self._identity

    @property
    def has_ended(self) -> bool:
        """With all its processes, unless the subreaper was killed."""
        return self._process.poll() is not None

    def restart_if_ended(self) -> None:
        """Restart the trainer if it has ended by itself and the wait is over.

        Call it on the thread that created this object: the subreaper ends with that thread.
        """
        with self._lock:
            now = self._clock()
            if not self.has_ended:
                return
            if self._retry_at is None:
                self._clean_up()
                self._retry_at = now + self._next_wait(now)
            elif now >= self._retry_at:
                self._launch()

    def set_working(self, wanted: bool) -> None:
        """Compute, or hold."""
        with self._lock:
            if wanted != self._working:
                self._working = wanted
                self._send(self._current_command())

    def apply(self, settings: SessionSettings) -> None:
        """Apply settings. Thread-safe."""
        with self._lock:
            # The companion has its own name, not the volunteer's.
            named = msgspec.structs.replace(settings, display_name=_NAME)
            self._start = msgspec.structs.replace(self._start, settings=named)
            self._send(ApplySettings(named))

    def stop(self) -> None:
        """Ask it to leave; kill it if it does not."""
        with self._lock:
            self._send(Leave(_TIME_TO_LEAVE))
        try:
            self._process.wait(_TIME_TO_LEAVE)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            self._process.wait()
        self._close_pipe()

    def _launch(self) -> None:
        self._retry_at = None
        self._started_at = self._clock()
        self._process = self._started()
        self._wire, reports = cast("tuple[IO[bytes], IO[bytes]]", (self._process.stdin, self._process.stdout))
        threading.Thread(target=_log_faults, args=(reports,), name="companion", daemon=True).start()
        self._send(self._start)
        self._send(self._current_command())

    def _started(self) -> "subprocess.Popen[bytes] | Forked":
        if self._fork_server is not None:
            try:
                return self._fork_server.start(self._program, self._folder, _GRACE)
            except OSError as error:
                log.warning("the fork server has ended: %s", error)
                self._fork_server = None
        subreaper = core_command("core.system.subreaper", "--grace", str(_GRACE), str(self._folder), "--")
        return subprocess.Popen([*subreaper, *self._program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _next_wait(self, now: float) -> float:
        self._ends = 1 if now - self._started_at >= FORGIVEN_AFTER else self._ends + 1
        seconds = backoff(self._ends)
        log.warning("%s", Message("companion_ended", {"code": self._process.returncode, "wait": seconds}))
        return seconds

    def _current_command(self) -> Hold | Resume:
        return Resume() if self._working else Hold()

    def _send(self, command: TrainerCommand) -> None:
        # The trainer has ended; the next one gets the present settings and command at its start.
        with contextlib.suppress(BrokenPipeError):
            if not self._wire.closed:
                self._wire.write(encode(command))
                self._wire.flush()

    def _clean_up(self) -> None:
        self._close_pipe()
        if (self._process.returncode or 0) < 0:
            # The subreaper itself was killed: its clean-up is done here.
            orphans.kill_all(self._folder)

    def _close_pipe(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._wire.close()


def _log_faults(reports: IO[bytes]) -> None:
    with reports:
        for text in reports:
            try:
                report = report_decoder.decode(text)
            except msgspec.DecodeError as error:
                log.warning("the companion sent a line that is not a report: %s", error)
                continue
            if isinstance(report, Fault):
                log.error("%s", Message("companion_failed", {"problem": report.error}))
