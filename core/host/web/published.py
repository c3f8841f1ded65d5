"""What the backbone publishes through its web server."""

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Literal

import msgspec

from core.api.project.manifest import Manifest
from core.host.contributions.store import ContributionStore
from core.host.curve import Curve
from core.host.project.files import ServedFile
from core.learning import checkpoints

_SILENCE = 45.0
"""Seconds without a working DHT after which peers have none either. It is asked every 15 s; one question may
fail."""


@dataclass(frozen=True)
class DroppedPeer:
    """A peer that the backbone takes into no group for a while."""

    peer: str
    reason: str
    at: float
    """UTC seconds."""
    seconds: float


@dataclass(frozen=True)
class Jump:
    """The evaluation loss rose at once, so the run went back."""

    epoch: int
    loss: float
    before: float | None
    """None: there was none yet."""
    to_epoch: int | None
    """Of the checkpoint that the run went back to; None: the organiser has to decide."""
    at: float
    """UTC seconds."""


@dataclass(frozen=True)
class RunStatus:
    """Progress of the run; `at` is UTC seconds of when the DHT last gave it."""

    epoch: int = 0
    peers: int = 0
    samples_per_second: float = 0.0
    at: float = 0.0
    dropped: Sequence[DroppedPeer] = ()
    """Of the last hour."""
    jump: Jump | None = None
    """The last one, since the backbone was started."""


class PublishedRun:
    """The published data of one run. Thread-safe."""

    def __init__(
        self, files: Mapping[str, ServedFile], curve: Curve, store: ContributionStore, checkpoint_folder: Path
    ) -> None:
        self.files, self.curve, self.store, self.checkpoint_folder = files, curve, store, checkpoint_folder
        self.manifest: Manifest | None = None
        """None until peers can reach the backbone."""
        self.status = RunStatus()
        """Set it whenever the DHT has given the run's progress."""
        self._lock = Lock()
        self._digests: dict[tuple[str, int], str] = {}
        self._points: tuple[int, bytes] = (-1, b"")

    @property
    def health(self) -> Literal["starting", "ok", "dht_silent"]:
        """Whether peers can find the run here: the DHT must have been seen lately to keep what is stored."""
        if self.manifest is None or not self.status.at:
            return "starting"
        return "ok" if time.time() - self.status.at < _SILENCE else "dht_silent"

    def curve_json(self, since: int) -> bytes:
        """The points from `since` on; the whole curve is encoded once for each change."""
        if since > 0:
            return msgspec.json.encode({"points": self.curve.points(since)})
        version = self.curve.version
        if self._points[0] != version:
            self._points = version, msgspec.json.encode({"points": self.curve.points()})
        return self._points[1]

    def checkpoint(self, name: str) -> ServedFile | None:
        """The checkpoint with this name; its SHA-256 is computed once."""
        path = next((path for path in checkpoints.saved(self.checkpoint_folder) if path.name == name), None)
        if path is None:
            return None
        try:
            with self._lock, path.open("rb") as file:
                status = os.fstat(file.fileno())
                key = (name, status.st_mtime_ns)
                if key not in self._digests:
                    self._digests = {**self._digests, key: hashlib.file_digest(file, "sha256").hexdigest()}
        except FileNotFoundError:
            return None
        return ServedFile(path, self._digests[key], status.st_size, status.st_mtime_ns)
