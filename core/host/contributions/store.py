"""The accepted contributions of a run, in the backbone's SQLite file: totals by volunteer, and peers over time."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from core.host.state_database import StateDatabase

_MOST_SHOWN = 100
"""Volunteers on the leaderboard."""
_KEPT_SLOTS = 10_000
"""Of sessions that have gone and never claimed anything: anybody can report progress, under any number of keys."""
_KEPT_EPOCHS = 1000
"""Epochs after which a round can no longer be claimed, and only its sum is stored."""
_TABLES = """
-- Peers report again what a crash of the machine loses.
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS volunteer (
    id TEXT PRIMARY KEY, name TEXT, samples INTEGER NOT NULL, rounds INTEGER NOT NULL, last_epoch INTEGER NOT NULL,
    first_at REAL NOT NULL, last_at REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS volunteer_by_samples ON volunteer (samples);
CREATE TABLE IF NOT EXISTS claim (
    epoch INTEGER, slot TEXT, volunteer TEXT NOT NULL, samples INTEGER NOT NULL, PRIMARY KEY (epoch, slot)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS slot (
    id TEXT PRIMARY KEY, peer TEXT NOT NULL, first_epoch INTEGER NOT NULL, sequence INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rejection (reason TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS presence (
    minute INTEGER PRIMARY KEY, peers INTEGER NOT NULL, samples_per_second REAL NOT NULL
) STRICT;
"""
_ADD = """
INSERT INTO volunteer VALUES (:id, :name, :samples, 1, :epoch, :at, :at) ON CONFLICT DO UPDATE SET
    samples = samples + :samples, rounds = rounds + 1, last_epoch = max(last_epoch, :epoch), last_at = :at, name = :name
"""
_CLAIMS = """
SELECT epoch, slot, claim.volunteer, samples FROM claim
JOIN (
    SELECT volunteer, count(DISTINCT epoch) AS rounds FROM claim
    WHERE epoch > ?1 - 100 AND samples > 0 GROUP BY volunteer
) AS seen ON seen.volunteer = claim.volunteer WHERE epoch = ?1 AND samples > 0 ORDER BY rounds DESC, samples
"""
_CLAIMS_OF = """
SELECT * FROM claim WHERE slot IN (SELECT id FROM slot WHERE peer = ?) AND epoch > ? AND samples > 0
"""
_FORGET_SLOTS = """
DELETE FROM slot WHERE id IN (
    SELECT id FROM slot WHERE id NOT IN (SELECT slot FROM claim) AND id NOT IN (SELECT value FROM json_each(?))
    ORDER BY first_epoch DESC LIMIT -1 OFFSET ?
)
"""
_ENTRY = """
SELECT (SELECT 1 + count(*) FROM volunteer AS other WHERE other.samples > volunteer.samples), id, name, samples,
    1.0 * samples / max(1, (SELECT sum(samples) FROM volunteer)), rounds, last_epoch, first_at, last_at FROM volunteer
"""


class Entry(msgspec.Struct, frozen=True):
    """One volunteer, over all machines that sign with the same key. Times are UTC seconds."""

    place: int
    volunteer: str
    """The public key: 64 hexadecimal digits."""
    name: str | None
    """Chosen by the volunteer; not unique."""
    samples: int
    share: float
    """Share of all samples accepted here."""
    rounds: int
    last_epoch: int
    first_at: float
    last_at: float


class Claim(msgspec.Struct, frozen=True):
    """An accepted claim for a round; 0 samples: a refused one."""

    epoch: int
    slot: str
    volunteer: str
    samples: int


class Slot(msgspec.Struct, frozen=True):
    """One session of a peer, by its subkey in the DHT."""

    id: str
    peer: str
    first_epoch: int
    sequence: int


class Presence(msgspec.Struct, frozen=True):
    """Peers at work, on average over some minutes. `at` is UTC seconds."""

    at: float
    peers: float
    samples_per_second: float


class ContributionStore(StateDatabase):
    """For one run, in the state folder."""

    def __init__(self, state: Path, run_id: str) -> None:
        super().__init__(state / f"contributions-{run_id}.sqlite", _TABLES)

    # -- written by the audit ----------------------------------------------------------------------------------

    def accept(self, claims: Iterable[Claim], name: str | None, at: float) -> None:
        """Add claims of one volunteer, all or none. A claim that is already stored changes nothing."""
        with self.changing() as database:
            for claim in claims:
                values = {"id": claim.volunteer, "name": name, "epoch": claim.epoch, "samples": claim.samples, "at": at}
                row = (claim.epoch, claim.slot, claim.volunteer, claim.samples)
                if database.execute("INSERT OR IGNORE INTO claim VALUES (?, ?, ?, ?)", row).rowcount:
                    database.execute(_ADD, values)

    def refuse(self, epoch: int, slot: str, volunteer: str) -> None:
        """Refuse a slot's claim for a round, also if it is claimed again."""
        with self.changing() as database:
            database.execute("INSERT OR IGNORE INTO claim VALUES (?, ?, ?, 0)", (epoch, slot, volunteer))

    def withdraw(self, claim: Claim) -> None:
        """Refuse a claim that had been accepted, also if it is made again."""
        with self.changing() as database:
            key = (claim.epoch, claim.slot, claim.samples)
            withdraw = "UPDATE claim SET samples = 0 WHERE epoch = ? AND slot = ? AND samples = ?"
            if claim.samples and database.execute(withdraw, key).rowcount:
                database.execute(
                    "UPDATE volunteer SET samples = samples - ?, rounds = rounds - 1 WHERE id = ?",
                    (claim.samples, claim.volunteer),
                )

    def set_slot(self, slot: Slot) -> None:
        with self.changing() as database:
            database.execute("INSERT OR REPLACE INTO slot VALUES (?, ?, ?, ?)", msgspec.structs.astuple(slot))

    def reject(self, reason: str) -> None:
        with self.changing() as database:
            database.execute(
                "INSERT INTO rejection VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1", (reason,)
            )

    def record_presence(self, peers: int, samples_per_second: float, at: float) -> None:
        """Record the number of peers at work; the last record of a minute counts."""
        with self.changing() as database:
            row = (int(at // 60), peers, samples_per_second)
            database.execute("INSERT OR REPLACE INTO presence VALUES (?, ?, ?)", row)

    def prune(self, epoch: int, present: Iterable[str] = ()) -> None:
        """Delete rows that the run no longer needs in `epoch`, while these slots are there; totals do not change."""
        with self.changing() as database:
            database.execute("DELETE FROM claim WHERE epoch < ?", (epoch - _KEPT_EPOCHS,))
            there = msgspec.json.encode(list(present)).decode()
            database.execute(_FORGET_SLOTS, (there, _KEPT_SLOTS))

    # -- read by the audit and the web server ------------------------------------------------------------------

    def slot(self, id: str) -> Slot | None:  # noqa: A002 - the field's name
        return next((Slot(*row) for row in self.rows("SELECT * FROM slot WHERE id = ?", id)), None)

    def claims(self, epoch: int) -> list[Claim]:
        """Accepted for the update that `epoch` began with: first those of who was in most rounds lately, and of equals
        the smallest."""
        return [Claim(*row) for row in self.rows(_CLAIMS, epoch)]

    def claims_of(self, peer: str, since: int) -> list[Claim]:
        """Those of a peer's sessions that were accepted for updates after the epoch `since`."""
        found = self.rows(_CLAIMS_OF, peer, since)
        return [Claim(*row) for row in found]

    def leaders(self) -> list[Entry]:
        """The volunteers with the most samples, in order."""
        return [
            Entry(*row)
            for row in self.rows(f"{_ENTRY} WHERE samples > 0 ORDER BY samples DESC, id LIMIT ?", _MOST_SHOWN)
        ]

    def entry(self, volunteer: str) -> Entry | None:
        return next((Entry(*row) for row in self.rows(f"{_ENTRY} WHERE id = ?", volunteer)), None)

    def totals(self) -> tuple[int, int]:
        """The number of volunteers, and of all their samples."""
        ((volunteers, samples),) = self.rows("SELECT count(*), coalesce(sum(samples), 0) FROM volunteer")
        return volunteers, samples

    def rejections(self) -> dict[str, int]:
        """Number of rejected claims by reason."""
        return dict(self.rows("SELECT reason, count FROM rejection ORDER BY reason"))

    def presence(self, since: float, minutes: int) -> list[Presence]:
        """Peers over time from `since` (UTC seconds) on, in steps of some minutes."""
        rows = self.rows(
            "SELECT minute / ?1 * ?1 * 60.0, avg(peers), avg(samples_per_second) FROM presence WHERE minute >= ?2 "
            "GROUP BY minute / ?1 ORDER BY 1",
            minutes,
            int(since // 60),
        )
        return [Presence(*row) for row in rows]
