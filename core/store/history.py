"""Reads contributions: those on disk and those pending in the journal."""

from datetime import datetime

from core.api.project.projects import CurvePoint
from core.api.record.record import Contribution
from core.api.record.totals import GIVEN, together
from core.api.snapshot import Today
from core.store.database import Database
from core.store.journal import Journal

_OWN = " AND origin = ''"


class History:
    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal

    def contributions(
        self, since: float | None = None, *, after: tuple[float, int] | None = None, most: int = -1, own: bool = False
    ) -> list[Contribution]:
        """One per session and hour, oldest first. An hour counts if it begins at or after `since`.

        `after` continues a list: hour and session of its last entry. At most `most`; -1: all. `own` leaves out imported
        ones.
        """
        query = (
            f"SELECT session, project, hour, {', '.join(GIVEN)} FROM contribution"  # noqa: S608 - names from the code
            " JOIN session ON session.id = contribution.session WHERE hour >= ? AND (hour, session) > (?, ?)"
            f"{_OWN if own else ''} ORDER BY hour, session LIMIT ?"
        )
        first = float("-inf") if since is None else since
        behind = after or (float("-inf"), 0)
        rows = self._database.rows(query, (first, *behind, most))
        found = {(row["session"], row["hour"]): Contribution(**row) for row in rows}
        is_all = most < 0 or len(rows) < most
        last = (float("inf"), 0) if is_all else (rows[-1]["hour"], rows[-1]["session"])
        for key, entry in self._journal.pending.given.items():
            if entry.hour >= first and behind < (entry.hour, entry.session) <= last:
                found[key] = together(found[key], [entry]) if key in found else entry
        return sorted(found.values(), key=lambda entry: (entry.hour, entry.session))

    def today(self, now: float) -> Today:
        """Since local midnight, or from the next full UTC hour."""
        midnight = datetime.fromtimestamp(now).astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        given = self.contributions(midnight.timestamp(), own=True)
        return Today(
            samples=sum(entry.samples for entry in given),
            seconds=sum(entry.seconds for entry in given),
            epochs=sum(entry.epochs for entry in given),
        )

    def traffic_since(self, moment: float) -> int:
        """Bytes up and down in the hours from `moment` on, except practice and imports, which use no internet here."""
        practice = {row["id"] for row in self._database.rows("SELECT id FROM project WHERE source = 'builtin'")}
        query = (
            "SELECT project, sum(uploaded + downloaded) AS bytes FROM contribution"  # noqa: S608 - see _OWN
            f" JOIN session ON session.id = contribution.session WHERE hour >= ?{_OWN} GROUP BY project"
        )
        given = [(row["project"], int(row["bytes"])) for row in self._database.rows(query, (moment,))]
        pending = [e for e in self._journal.pending.given.values() if e.hour >= moment]
        given += [(entry.project, entry.uploaded + entry.downloaded) for entry in pending]
        return sum(size for project, size in given if project not in practice)

    def given_to(self, project: str) -> tuple[int, float]:
        """Samples and seconds of all sessions for a project."""
        query = "SELECT coalesce(sum(samples), 0), coalesce(sum(seconds), 0.0) FROM day WHERE project = ?"
        [(samples, seconds)] = self._database.rows(query, (project,))
        pending = [e for e in self._journal.pending.given.values() if e.project == project]
        return samples + sum(e.samples for e in pending), seconds + sum(e.seconds for e in pending)

    def curve(self, project: str, run_id: str) -> dict[int, CurvePoint]:
        """The epochs in which this volunteer took part or watched, by number."""
        query = (
            "SELECT epoch, max(loss) AS loss, sum(own_samples) AS own_samples, max(peers) AS peers, max(at) AS at"
            " FROM epoch WHERE project = ? AND run_id = ? GROUP BY epoch"
        )
        points = {row["epoch"]: CurvePoint(**row) for row in self._database.rows(query, (project, run_id))}
        for key, done in self._journal.pending.epochs.items():
            if key == (project, run_id, done.epoch):
                points[done.epoch] = CurvePoint(done.epoch, done.loss, None, done.samples, done.peers, done.at)
        return points
