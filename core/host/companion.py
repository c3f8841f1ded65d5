"""One more peer beside the backbone, so that nobody has to train alone: an ordinary trainer, worked by the backbone."""

import logging
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, cast

import msgspec
from hivemind.p2p import PeerID

from core.api.manifest import Manifest
from core.api.preferences import Limits
from core.api.session import ApplyLimits, Fault, Hold, Leave, Resume, Start, TrainerCommand, line, report_decoder

log = logging.getLogger(__name__)

_TIME_TO_LEAVE = 5.0
_NAME = "The backbone's companion"


class Companion:
    """A trainer process of this one's group, which works only while others do: it is there for their sake."""

    def __init__(self, manifest: Manifest, state: Path, session_folder: Path) -> None:
        session_folder.mkdir(mode=0o700, exist_ok=True)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "core.trainer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._wire, reports = cast("tuple[IO[bytes], IO[bytes]]", (self._process.stdin, self._process.stdout))
        self._working = False
        self._writing = threading.Lock()
        self._key = state / "companion.key"
        self._send(
            Start(
                manifest,
                identity=str(self._key),
                volunteer=str(state / "companion-volunteer.key"),
                limits=Limits(display_name=_NAME),
                cache=str(state / "companion-cache"),
                session_folder=str(session_folder),
            )
        )
        self._send(Hold())
        threading.Thread(target=self._listen, args=(reports,), name="companion", daemon=True).start()

    @property
    def identity(self) -> bytes | None:
        """Its peer id; None until it has made its key."""
        try:
            return bytes(PeerID.from_identity(self._key.read_bytes()).to_bytes())
        except FileNotFoundError:
            return None

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def work(self, wanted: bool) -> None:
        """Compute, or hold with everything in memory."""
        if wanted != self._working:
            self._working = wanted
            self._send(Resume() if wanted else Hold())

    def limit(self, limits: Limits) -> None:
        """Keep within these from now on. May be called from any thread."""
        # The volunteer's own name is not this one's.
        self._send(ApplyLimits(msgspec.structs.replace(limits, display_name=_NAME)))

    def stop(self) -> None:
        """Ask it to leave; kill it if it does not."""
        self._send(Leave(_TIME_TO_LEAVE))
        try:
            self._process.wait(_TIME_TO_LEAVE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self, command: TrainerCommand) -> None:
        try:
            with self._writing:
                self._wire.write(line(command))
                self._wire.flush()
        except BrokenPipeError:
            log.warning("the companion is gone")

    def _listen(self, reports: IO[bytes]) -> None:
        for text in reports:
            report = report_decoder.decode(text)
            if isinstance(report, Fault):
                log.error("the companion: %s", report.error)
