"""Files that earlier programs wrote, opened by this one. Each is built by the scripts that made it then."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.api.message import Message
from core.api.preferences.week_text import preset_cells
from core.api.project.projects import CurvePoint
from core.api.record.record import Contribution, GetSessions
from core.api.session import Counters, EpochDone
from core.api.snapshot import Traffic
from core.store.migrations import MIGRATIONS
from core.store.queries.sessions import sessions
from core.store.store import Store

NOON = int(datetime(2026, 3, 14, 12, tzinfo=UTC).timestamp())
SESSION = "INSERT INTO session (id, project, run_id, started_at, ended_at, {ending}) VALUES (?, ?, ?, ?, ?, ?)"
DAYS_SINCE = 3
"""The script from which on sums of days are in a table; the programs before it made views of sums."""
VIEWS = """
    CREATE VIEW day AS SELECT date(hour, 'unixepoch') AS day, sum(seconds) AS seconds FROM contribution GROUP BY day;
    CREATE VIEW project_total AS
        SELECT session.project AS project, sum(seconds) AS seconds
        FROM contribution JOIN session ON session.id = contribution.session GROUP BY session.project;
"""
KINDS_SINCE = 4
"""The script from which on endings and notices are kinds."""
PREFERENCES_SINCE = 5
"""The script from which on every preference is in one table."""
NIGHTS = preset_cells("nights")
CHOSEN = {
    "threads": 3,
    "metered": True,
    "currency": "EUR",
    "display_name": "Ann's",
    "programs": ("steam",),
    "week": NIGHTS,
}
GIVEN = (
    "INSERT INTO contribution (session, hour, seconds, samples, rounds, failed_rounds, epochs, cpu_seconds,"
    " gpu_seconds, joules, uploaded, downloaded) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def written_by(version: int, path: Path) -> None:
    """A file as the program with that many scripts left it, killed in the middle of its second session."""
    connection = sqlite3.connect(path, isolation_level=None)
    for script in MIGRATIONS[:version]:
        connection.executescript(script)
    if version < DAYS_SINCE:
        connection.executescript(VIEWS)
    connection.execute(f"PRAGMA user_version = {version}")
    if version < PREFERENCES_SINCE:
        connection.execute("INSERT INTO preference VALUES ('threads', 3), ('metered', 1), ('currency', 978)")
        settings = {"display_name": "Ann's", "awaited_programs": '["steam"]', "week": NIGHTS}
    else:
        preferences = {"threads": 3, "metered": True, "currency": "EUR", "display_name": "Ann's", "programs": ["steam"]}
        rows = [(name, json.dumps(value)) for name, value in {**preferences, "week": NIGHTS}.items()]
        connection.executemany("INSERT INTO preference VALUES (?, ?)", rows)
        settings = {}
    connection.executemany("INSERT INTO setting VALUES (?, ?)", {**settings, "intent": "{}"}.items())
    connection.execute("INSERT INTO project VALUES ('p', 'https://p.example/m.json', NULL, ?)", (NOON,))
    connection.execute("INSERT INTO membership VALUES ('p', ?, 1, 'file')", (NOON,))
    session = SESSION.format(ending="end_reason" if version < KINDS_SINCE else "ending")
    connection.execute(session, (1, "p", "run", NOON + 1.5, NOON + 7000.5, "paused"))
    connection.execute(session, (2, "p", "run", NOON + 7200.0, None, None))
    connection.execute(GIVEN, (1, NOON, 3598.5, 100, 7, 1, 3, 3000.0, 0.0, None, 11, 12))
    connection.execute(GIVEN, (1, NOON + 3600, 3400.0, 90, 6, 0, 2, 2900.0, 3.5, 8.25, 21, 22))
    connection.execute(GIVEN, (2, NOON + 7200, 60.0, 5, 0, 0, 0, 50.0, 0.0, None, 1, 2))
    if version >= DAYS_SINCE:
        # From here on the program itself keeps the days, as that script began them.
        begin = "INSERT INTO day SELECT"
        connection.execute(begin + MIGRATIONS[2].partition(begin)[2])
    connection.execute(
        "INSERT INTO epoch (project, run_id, epoch, loss, own_samples, peers, at)"
        " VALUES ('p', 'run', 1, 4.5, 60, 3, ?)",
        (NOON,),
    )
    if version < KINDS_SINCE:
        add_notice(connection, "text", "You joined.")
    else:
        add_notice(connection, "message", '{"kind": "recorded_text", "params": {"text": "You joined."}}')
    connection.close()


def add_notice(connection: sqlite3.Connection, column: str, value: str) -> None:
    insert = f"INSERT INTO notice (kind, {column}, project, at) VALUES ('joined', ?, 'p', ?)"  # noqa: S608
    connection.execute(insert, (value, NOON))


def given(session: int, hour: float, *figures: Any, **bytes_: int) -> Contribution:
    return Contribution(*figures, **bytes_, session=session, project="p", hour=hour)


@pytest.fixture(params=range(1, len(MIGRATIONS) + 1))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    path = tmp_path / "idlehive.sqlite"
    written_by(request.param, path)
    return Store(path)


def test_nothing_that_was_given_is_lost(store: Store) -> None:
    assert store.history.contributions() == [
        given(1, NOON, 3598.5, 100, 7, 1, 3, 3000.0, 0.0, None, uploaded=11, downloaded=12),
        given(1, NOON + 3600, 3400.0, 90, 6, 0, 2, 2900.0, 3.5, 8.25, uploaded=21, downloaded=22),
        given(2, NOON + 7200, 60.0, 5, 0, 0, 0, 50.0, 0.0, None, uploaded=1, downloaded=2),
    ]
    assert store.history.curve("p", "run") == {1: CurvePoint(1, 4.5, None, 60, 3, NOON)}
    store.close()


def test_days_are_summed_up_from_the_hours_that_are_there(store: Store) -> None:
    rows = store.database.rows("SELECT day, seconds, samples, joules, accepted, counted FROM day")
    assert [tuple(row) for row in rows] == [(NOON // 86_400, 3598.5 + 3400.0 + 60.0, 195, 8.25, None, 195)]
    assert store.history.given_to("p") == (195, 7058.5)
    store.close()


def test_choices_memberships_and_notices_are_kept(store: Store) -> None:
    assert store.preferences.load().items() >= CHOSEN.items()
    assert [row["name"] for row in store.database.rows("SELECT name FROM setting")] == ["intent"]
    assert store.journal.read_setting("intent") == "{}"
    [project] = store.projects.all()
    assert (project.id, project.joined_at, project.secret) == ("p", NOON, "file")
    [row] = store.database.rows("SELECT message FROM notice")
    assert msgspec.json.decode(row["message"], type=Message) == Message("recorded_text", {"text": "You joined."})
    store.close()


def test_why_each_session_ended_is_kept_and_the_unfinished_one_is_closed(store: Store) -> None:
    rows = store.database.rows("SELECT ended_at, ending FROM session ORDER BY id")
    assert [tuple(row) for row in rows] == [(NOON + 7000.5, "paused"), (None, "engine_killed")]
    store.close()


def test_what_is_given_from_now_on_is_added_to_it(store: Store) -> None:
    store.journal.begin("p", "run", NOON + 10_000.0)
    counters = Counters(samples=8, accepted=6, flops=1e9, seconds=2.0, peers_met=2, averaging_up=5)
    store.journal.add(counters, Traffic(uploaded=9), NOON + 10_001.0)
    store.journal.epoch(EpochDone(1, 4.4, 70, 4, NOON + 10_001.0))
    store.journal.flush()
    last = store.history.contributions()[-1]
    assert (last.session, last.samples, last.accepted, last.flops) == (3, 8, 6, 1e9)
    assert (last.peers_met, last.averaging_up, last.uploaded) == (2, 5, 9)
    assert store.history.curve("p", "run")[1].own_samples == 70
    store.close()


@pytest.mark.parametrize(
    ("stored", "ending"),
    [
        ("paused", Message("paused")),
        ("in_use, on_battery", Message("in_use")),
        ("the engine ended", Message("engine_killed")),
        ("exported while it ran", Message("exported_running")),
        ("No peer of the run answers.", Message("recorded_text", {"text": "No peer of the run answers."})),
    ],
)
def test_an_ending_of_an_older_program_stays_readable(tmp_path: Path, stored: str, ending: Message) -> None:
    path = tmp_path / "idlehive.sqlite"
    written_by(KINDS_SINCE - 1, path)
    with sqlite3.connect(path) as older:
        older.execute("UPDATE session SET end_reason = ? WHERE id = 1", (stored,))
    older.close()
    with closing(Store(path)) as store, closing(store.view()) as view:
        assert [each.ending for each in sessions(view, GetSessions(), str) if each.id == 1] == [ending]
