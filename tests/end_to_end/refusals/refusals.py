"""A refusal is one sentence and costs nothing that was given."""

import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.end_to_end.machine import Machine, Participant, Program, wait_for
from tests.end_to_end.projects import manifest, project
from tests.fakes.http_server import FakeServer

RUN_AT = 1_790_000_000.0
Rows = dict[str, list[tuple[Any, ...]]]


def kept(volunteer: Participant) -> Rows:
    """What must never be lost, as it stands in the file."""
    connection = sqlite3.connect(f"file:{volunteer.home.database}?mode=ro", uri=True)
    try:
        tables = ("preference", "project", "membership", "session", "contribution")
        rows = {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables}  # noqa: S608
    finally:
        connection.close()
    # A manifest may be renewed and an invite be added; what counts is which projects there are, and since when.
    return {**rows, **{table: [row[:2] for row in rows[table]] for table in ("project", "membership")}}


@contextmanager
def nothing_lost(volunteer: Participant) -> Iterator[None]:
    before = kept(volunteer)
    assert all(before.values())
    yield
    after = kept(volunteer)
    assert {table: [row for row in rows if row not in after[table]] for table, rows in before.items()} == {
        table: [] for table in before
    }


def sentence(text: str) -> str:
    """What stands on stderr, which must be one line that ends like a sentence."""
    assert text.count("\n") == 1, text
    assert text.rstrip().endswith((".", ")")), text
    return text.strip()


def refused(done: "subprocess.CompletedProcess[str]", code: int) -> str:
    assert done.returncode == code, (done.stdout, done.stderr)
    return sentence(done.stderr)


Spoil = Callable[[dict[str, Any]], None]


def published(machine: Machine, spoil: Spoil) -> tuple[Path, dict[str, Any]]:
    description = project(machine.folder, id="bees")
    plain = manifest(description, machine.folder / "state")
    spoil(plain)
    return description, plain


def failing(ann: Participant, server: FakeServer, words: str) -> tuple[Program, dict[str, Any]]:
    """A contribution whose session fails in a way that may pass, and its status then."""
    program = ann.start("contribute", server.url("manifest.json"), "--until-epoch", "5")
    wait_for(lambda: words in program.said() or program.process.poll() is not None, 60.0, words)
    assert program.process.poll() is None, program.complained()
    return program, ann.status()


def stop(program: Program) -> None:
    """As a service manager does; what was agreed is not reached, and that is what the exit code says."""
    program.process.send_signal(signal.SIGTERM)
    assert program.end() == 1
