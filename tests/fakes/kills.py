"""Kills engine and trainer at random moments, and looks at what is left of the record."""

import json
import os
import random
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from core.api.intent import Contribute
from core.api.preferences.commands import ListPreferences, PreferenceInfo, SetPreference
from core.api.project.projects import AddProject, JoinProject, LeaveProject, ListProjects, ProjectInfo
from core.api.record.record import Contribution, GetHistory
from core.engine.recorder import FLUSH_EVERY
from tests.fakes.running_engine import RunningEngine
from tests.fakes.scripted_host import manifest
from tests.waiting import wait_for

REPORTED_WITHIN = 1.0
"""Seconds from a sample to the snapshot that has it, and from a flush to its end."""


class Kills:
    """One volunteer who changes things and is interrupted."""

    def __init__(self, engine: RunningEngine, folder: Path, seed: int) -> None:
        self.engine = engine
        self._chance = random.Random(seed)
        self._source = folder / "other.json"
        file = {"url": "http://127.0.0.1:9/a", "sha256": "0" * 64, "size": 100}
        other = manifest(id="other", run_id="other-1", tokenizer=file, data={"shards": [file]}, curve=None)
        self._source.write_text(json.dumps(other))
        self._joined = False
        self._share = 100
        self._seen: list[tuple[float, int]] = []
        """When the snapshots of the present session told how many samples."""
        self.lost = 0.0
        """Samples' worth of seconds that the record was behind, at worst."""

    def begin(self) -> None:
        self.engine.start().contribute()
        self.engine.ask(AddProject(str(self._source)), ProjectInfo)

    def kill(self, seconds: float) -> str:
        """Let things happen for a while, kill one of the two, and see that nothing is missing; which of them."""
        self._live(seconds)
        victim = self._chance.choice(("engine", "trainer", "both"))
        session = self.engine.snapshot().session
        assert session is not None
        at = time.monotonic()
        if victim != "trainer":
            os.kill(self.engine.pid, signal.SIGKILL)
        if victim != "engine":
            os.kill(session.pid, signal.SIGKILL)
        if victim != "trainer":
            assert self.engine.process is not None
            self.engine.process.wait(10)
            self._examine_file(at)
            wait_for(lambda: not self.engine.members())
            # Nothing but a start: the intent of before is known, and so is everything else.
            self.engine.start()
        else:
            # Kills of the trainer alone are failures, and each one in a row would wait longer than the one before.
            self.engine.tell(Contribute())
        self._examine_answers()
        was = session.pid
        wait_for(lambda: (now := self.engine.until("contributing", 30.0)).session and now.session.pid != was, 30.0)
        return victim

    def _live(self, seconds: float) -> None:
        self._seen.clear()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            snapshot = self.engine.snapshot()
            self._seen.append((time.monotonic(), snapshot.progress.samples))
            if self._chance.random() < 0.3:
                self._change()
            time.sleep(0.05)  # the pace at which the volunteer does something

    def _change(self) -> None:
        if self._chance.random() < 0.5:
            self._share = self._chance.randrange(10, 100)
            self.engine.ask(SetPreference("processor_share", self._share), PreferenceInfo)
        else:
            command = LeaveProject("other") if self._joined else JoinProject("other")
            self.engine.ask(command, ProjectInfo)
            self._joined = not self._joined

    def _examine_file(self, killed_at: float) -> None:
        with closing(sqlite3.connect(self.engine.home.database)) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            [(kept,)] = database.execute(
                "SELECT coalesce(sum(samples), 0) FROM contribution WHERE session = (SELECT max(id) FROM session)"
            )
        missed = [at for at, samples in self._seen if samples > kept]
        if missed:
            self.lost = max(self.lost, killed_at - missed[0])
        assert not missed or killed_at - missed[0] <= FLUSH_EVERY + REPORTED_WITHIN

    def _examine_answers(self) -> None:
        limits = {limit.name: limit.value for limit in self.engine.ask(ListPreferences(), list[PreferenceInfo])}
        assert limits["processor_share"] == self._share
        projects = {project.id: project.joined for project in self.engine.ask(ListProjects(), list[ProjectInfo])}
        assert projects["other"] is self._joined
        assert self.engine.ask(GetHistory(), list[Contribution]) is not None
