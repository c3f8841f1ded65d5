"""The learning curve of a run, stored by the backbone: training losses that peers report, and its evaluation losses.

Reports are weighted by their samples, and impossible ones are left out, so that a single peer has little influence.
"""

import math
from pathlib import Path
from typing import Any

import msgspec

from core.api.project.demonstration import Demonstration
from core.api.project.projects import Figure
from core.host.state_database import StateDatabase

_AHEAD = 2
_BEHIND = 50
_LARGEST_LOSS = 1e6
_TABLES = """
CREATE TABLE IF NOT EXISTS training (
    epoch INTEGER, peer TEXT, loss REAL NOT NULL, samples INTEGER NOT NULL, at REAL NOT NULL, PRIMARY KEY (epoch, peer)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS evaluation (epoch INTEGER PRIMARY KEY, loss REAL NOT NULL, at REAL NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS figure (epoch INTEGER PRIMARY KEY, kind TEXT NOT NULL, value REAL NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS demonstration (last INTEGER PRIMARY KEY, json BLOB NOT NULL) STRICT;
"""
_POINTS = """
WITH reported AS (
    SELECT epoch, sum(loss * samples) / sum(samples) AS loss, count(*) AS peers, sum(samples) AS samples, max(at) AS at
    FROM training WHERE epoch >= ?1 GROUP BY epoch
)
SELECT epochs.epoch, reported.loss, evaluation.loss, coalesce(peers, 0), coalesce(samples, 0),
    coalesce(reported.at, evaluation.at), figure.kind, figure.value
FROM (SELECT epoch FROM reported UNION SELECT epoch FROM evaluation WHERE epoch >= ?1) AS epochs
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


class Curve(StateDatabase):
    """The curve of one run, in the state folder."""

    def __init__(self, state: Path, run_id: str, most_samples: int) -> None:
        """`most_samples` is the most that one peer can give to one epoch, for example twice the target batch size."""
        super().__init__(state / f"curve-{run_id}.sqlite", _TABLES)
        self.version = 0
        """Increases with every change."""
        self._most_samples = most_samples

    def add_training(self, peer: str, *, epoch: int, loss: float, samples: int, at: float, current: int) -> bool:
        """Record a report of `peer` about `epoch`; a later report of the same peer replaces it.

        `current` is the run's present epoch.

        Returns:
            False if it is impossible, or already recorded.
        """
        if not current - _BEHIND <= epoch <= current + _AHEAD or not 0 < samples <= self._most_samples:
            return False
        if epoch < 0 or not _sane(loss) or not _sane_time(at) or len(peer) > 200:
            return False
        return self._change(
            "INSERT INTO training VALUES (?, ?, ?3, ?4, ?5) ON CONFLICT DO UPDATE "
            "SET loss = ?3, samples = ?4, at = ?5 WHERE loss != ?3 OR samples != ?4",
            *(epoch, peer, float(loss), samples, float(at)),
        )

    def add_evaluation(self, epoch: int, loss: float, at: float, figure: Figure | None = None) -> bool:
        """Record the backbone's own measurement.

        Returns:
            False if the loss is not a finite number.
        """
        if epoch < 0 or not _sane(loss):
            return False
        if figure is not None and math.isfinite(figure.value):
            self._change("INSERT OR REPLACE INTO figure VALUES (?, ?, ?)", epoch, figure.kind, figure.value)
        return self._change("INSERT OR REPLACE INTO evaluation VALUES (?, ?, ?)", epoch, float(loss), float(at))

    def show(self, demonstration: Demonstration) -> None:
        """What the model can do by now, in place of what it could do before."""
        self._change("INSERT OR REPLACE INTO demonstration VALUES (1, ?)", msgspec.json.encode(demonstration))

    @property
    def demonstration(self) -> Demonstration | None:
        """The last one; None also of one that breaks the limits: the page is served without it."""
        found = self.rows("SELECT json FROM demonstration")
        try:
            return msgspec.json.decode(found[0][0], type=Demonstration) if found else None
        except msgspec.DecodeError:
            return None

    def evaluation_loss(self, epoch: int) -> float | None:
        """As it was measured at `epoch`."""
        found = self.rows("SELECT loss FROM evaluation WHERE epoch = ?", epoch)
        return float(found[0][0]) if found else None

    def points(self, since: int = 0) -> list[Point]:
        """The curve from epoch `since` on."""
        return [_point(row) for row in self.rows(_POINTS, since)]

    def _change(self, statement: str, *values: object) -> bool:
        with self.changing() as database:
            changed = database.execute(statement, values).rowcount > 0
            self.version += changed
            return changed


def _point(row: tuple[Any, ...]) -> Point:
    epoch, loss, evaluation_loss, peers, samples, at, kind, value = row
    return Point(epoch, loss, evaluation_loss, peers, samples, at, None if kind is None else Figure(kind, value))


def _sane(loss: float) -> bool:
    return math.isfinite(loss) and abs(loss) <= _LARGEST_LOSS


def _sane_time(at: float) -> bool:
    return math.isfinite(at) and at >= 0
