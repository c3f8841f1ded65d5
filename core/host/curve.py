"""The learning curve of a run, stored by the backbone: training losses that peers report, and its evaluation losses.

Reports are weighted by their samples, and impossible ones are left out, so that a single peer has little influence.
"""

import math
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from core.api.errors import WorldError
from core.api.project.projects import Figure

_AHEAD = 2
_BEHIND = 50
_LARGEST_LOSS = 1e6
_TABLES = """
CREATE TABLE IF NOT EXISTS training (
    epoch INTEGER, peer TEXT, loss REAL NOT NULL, samples INTEGER NOT NULL, at REAL NOT NULL, PRIMARY KEY (epoch, peer)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS evaluation (epoch INTEGER PRIMARY KEY, loss REAL NOT NULL, at REAL NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS figure (epoch INTEGER PRIMARY KEY, kind TEXT NOT NULL, value REAL NOT NULL) STRICT;
"""
_POINTS = """
WITH reported AS (
    SELECT epoch, sum(loss * samples) / sum(samples) AS loss, count(*) AS peers, sum(samples) AS samples, max(at) AS at
    FROM training WHERE epoch >= :since GROUP BY epoch
)
SELECT epochs.epoch, reported.loss, evaluation.loss, coalesce(peers, 0), coalesce(samples, 0),
    coalesce(reported.at, evaluation.at), figure.kind, figure.value
FROM (SELECT epoch FROM reported UNION SELECT epoch FROM evaluation WHERE epoch >= :since) AS epochs
LEFT JOIN reported USING (epoch) LEFT JOIN evaluation USING (epoch) LEFT JOIN figure USING (epoch)
ORDER BY epoch
"""


class Point(msgspec.Struct, frozen=True, omit_defaults=True):
    """One epoch. `at` is UTC seconds."""

    epoch: int
    loss: float | None
    """Training loss, mean over the peers that reported one, weighted by their samples."""
    evaluation_loss: float | None
    """On held-out data, measured by the backbone."""
    peers: int
    """Peers that reported a loss."""
    samples: int
    """Samples that they claim, together."""
    at: float
    figure: Figure | None = None
    """Measured together with the evaluation loss."""


class Curve:
    """The curve of one run, in the state folder. Thread-safe."""

    def __init__(self, state: Path, run_id: str, most_samples: int) -> None:
        """`most_samples` is the most that one peer can give to one epoch, for example twice the target batch size.

        Raises:
            WorldError: the file cannot be used.
        """
        self.path = state / f"curve-{run_id}.sqlite"
        self.version = 0
        """Increases with every change."""
        self._most_samples = most_samples
        self._lock = Lock()
        with self._as_world_error():
            self._database = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.executescript(_TABLES)

    def add_training(self, peer: str, *, epoch: int, loss: float, samples: int, at: float, current: int) -> bool:
        """Record a report of `peer` about `epoch`; a later report of the same peer replaces it.

        `current` is the run's present epoch.

        Returns:
            False if it is impossible, or already recorded.

        Raises:
            WorldError: the file cannot be written.
        """
        if not current - _BEHIND <= epoch <= current + _AHEAD or not 0 < samples <= self._most_samples:
            return False
        if epoch < 0 or not _sane(loss) or not _sane_time(at) or len(peer) > 200:
            return False
        return self._change(
            "INSERT INTO training VALUES (:epoch, :peer, :loss, :samples, :at) ON CONFLICT DO UPDATE "
            "SET loss = :loss, samples = :samples, at = :at WHERE loss != :loss OR samples != :samples",
            {"epoch": epoch, "peer": peer, "loss": float(loss), "samples": samples, "at": float(at)},
        )

    def add_evaluation(self, epoch: int, loss: float, at: float, figure: Figure | None = None) -> bool:
        """Record the backbone's own measurement.

        Returns:
            False if the loss is not a finite number.

        Raises:
            WorldError: the file cannot be written.
        """
        if epoch < 0 or not _sane(loss):
            return False
        if figure is not None and math.isfinite(figure.value):
            self._change("INSERT OR REPLACE INTO figure VALUES (?, ?, ?)", (epoch, figure.kind, figure.value))
        return self._change(
            "INSERT OR REPLACE INTO evaluation VALUES (:epoch, :loss, :at)",
            {"epoch": epoch, "loss": float(loss), "at": float(at)},
        )

    def points(self, since: int = 0) -> list[Point]:
        """The curve from epoch `since` on."""
        with self._lock, self._as_world_error():
            return [_point(row) for row in self._database.execute(_POINTS, {"since": since})]

    def close(self) -> None:
        with self._lock:
            self._database.close()

    def _change(self, statement: str, values: dict[str, object] | tuple[object, ...]) -> bool:
        with self._lock, self._as_world_error():
            changed = self._database.execute(statement, values).rowcount > 0
            self.version += changed
            return changed

    @contextmanager
    def _as_world_error(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise WorldError("record_unusable", path=str(self.path), detail=str(error)) from None


def _point(row: tuple[Any, ...]) -> Point:
    epoch, loss, evaluation_loss, peers, samples, at, kind, value = row
    return Point(epoch, loss, evaluation_loss, peers, samples, at, None if kind is None else Figure(kind, value))


def _sane(loss: float) -> bool:
    return math.isfinite(loss) and abs(loss) <= _LARGEST_LOSS


def _sane_time(at: float) -> bool:
    return math.isfinite(at) and at >= 0
