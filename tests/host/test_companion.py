"""The backbone's companion: a scripted trainer in its place, under the real subreaper, killed for real."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from hivemind.p2p import P2P

from core.api.project.manifest_reading import read_stored
from core.api.session_settings import Limits, SessionSettings
from core.client.installation import core_command
from core.host.companion import Companion
from core.system.backoff import FIRST_WAIT, FORGIVEN_AFTER
from core.system.forking.requests import ForkServer
from tests.fakes import scripted_trainer
from tests.fakes.forking.fork_server import Server
from tests.fakes.scripted_host import manifest
from tests.waiting import wait_for


class Beside:
    """A companion with its clock, and the commands that its trainers read."""

    def __init__(self, folder: Path, fork_server: ForkServer | None) -> None:
        self.now, self.folder = 1000.0, folder
        self._others = set(_children())
        """Of tests before these, such as the helper of multiprocessing that ends with this process."""
        self._heard = folder / "heard.jsonl"
        self._script = folder / "trainer.json"
        self.script()
        self.companion = Companion(
            read_stored(json.dumps(manifest())),
            folder,
            folder / "session",
            program=core_command("tests.fakes.scripted_trainer"),
            fork_server=fork_server,
            clock=lambda: self.now,
        )

    def script(self, **changes: bool) -> None:
        """What trainers do that begin from now on."""
        self._script.write_text(json.dumps({"hears": str(self._heard), "stragglers": True, **changes}))

    def trainers(self) -> list[int]:
        """The processes that began so far, in their order."""
        return [int(encode) for encode in self._lines() if not encode.startswith("{")]

    def heard(self) -> list[dict[str, Any]]:
        """By the last one."""
        lines = self._lines()
        return [json.loads(encode) for encode in lines[lines.index(str(self.trainers()[-1])) + 1 :]]

    def members(self) -> list[psutil.Process]:
        """The subreaper, the trainer and all that it started."""
        return [child for child in _children() if child not in self._others and _lives(child)]

    def whole_family(self) -> list[psutil.Process]:
        """These, once the trainer has started its two stragglers."""
        members = self.members()
        return members if len(members) == 4 else []

    def kill(self) -> None:
        """SIGKILL to the trainer; back when nothing is left of it."""
        os.kill(self.trainers()[-1], signal.SIGKILL)
        wait_for(lambda: self.companion.has_ended and not self.members())

    def seconds_until_begun(self) -> float:
        """From now until it has begun again."""
        since, begun = self.now, len(self.trainers())
        while self.companion.has_ended:
            self.companion.restart_if_ended()
            self.now += 1.0
        wait_for(lambda: len(self.trainers()) > begun)
        return self.now - 1.0 - since

    def _lines(self) -> list[str]:
        return self._heard.read_text().splitlines() if self._heard.exists() else []


def _children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def _lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture(params=["as a program", "by a fork server"])
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Beside]:
    monkeypatch.setenv(scripted_trainer.VARIABLE, str(tmp_path / "trainer.json"))
    server = Server(tmp_path) if request.param == "by a fork server" else None
    beside = Beside(tmp_path, server.asking if server is not None else None)
    wait_for(beside.trainers)
    yield beside
    beside.companion.stop()
    assert beside.members() == []
    if server is not None:
        server.close()


def test_a_killed_companion_is_restarted_with_the_present_limits_and_command(
    beside: Beside, caplog: pytest.LogCaptureFixture
) -> None:
    beside.companion.apply(SessionSettings(Limits(threads=3)))
    beside.companion.set_working(True)
    wait_for(lambda: [command["type"] for command in beside.heard()] == ["Start", "Hold", "ApplySettings", "Resume"])
    beside.kill()
    assert beside.seconds_until_begun() == FIRST_WAIT
    assert "companion_ended code=137 wait=5" in caplog.text
    wait_for(lambda: [command["type"] for command in beside.heard()] == ["Start", "Resume"])
    assert beside.heard()[0]["settings"]["limits"]["threads"] == 3


def test_the_waits_grow_until_a_trainer_has_lived_for_a_while(beside: Beside) -> None:
    waits = []
    for _ in range(3):
        beside.kill()
        waits.append(beside.seconds_until_begun())
    beside.now += FORGIVEN_AFTER
    beside.kill()
    assert [*waits, beside.seconds_until_begun()] == [5.0, 10.0, 20.0, 5.0]


def test_a_killed_subreaper_leaves_no_process_that_the_next_companion_would_meet(beside: Beside) -> None:
    before = wait_for(beside.whole_family)
    subreaper = min(before, key=lambda process: process.create_time())
    subreaper.kill()
    wait_for(lambda: beside.companion.has_ended)
    assert any(_lives(process) for process in before)
    assert beside.seconds_until_begun() == FIRST_WAIT
    assert not any(_lives(process) for process in before)


def test_one_that_does_not_listen_is_ended_all_the_same(beside: Beside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.host.companion._TIME_TO_LEAVE", 0.5)
    beside.script(ignores_leave=True)
    beside.kill()
    beside.seconds_until_begun()
    wait_for(beside.heard)
    began = time.monotonic()
    beside.companion.stop()
    assert beside.members() == []
    assert time.monotonic() - began < 5.0


def test_a_key_is_read_once_since_to_check_it_takes_longer_than_a_pause_may(beside: Beside) -> None:
    assert beside.companion.identity is None
    key = beside.folder / "companion.key"
    P2P.generate_identity(str(key))
    found = beside.companion.identity
    key.unlink()
    assert found is not None
    assert beside.companion.identity == found
