"""Backbones may be away: one of two is enough, and without any those who know each other go on."""

import json
import re
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.machine import Machine, Profile, Program, wait_for
from tests.end_to_end.projects import project
from tests.fakes.http_server import closed_port

pytestmark = [pytest.mark.slow, pytest.mark.timeout(500)]


class Organiser:
    """One of the project's backbones, at the same place whenever it runs."""

    def __init__(self, machine: Machine, name: str, others: list[str]) -> None:
        self._profile = machine.profile(name)
        folder = machine.folder / f"at-{name}"
        folder.mkdir()
        self._state = folder / "state"
        self._description = described(folder, others)
        self._http, self._listen = closed_port(), closed_port()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http}/manifest.json"

    def start(self) -> Program:
        program = self._profile.start(
            *("host", str(self._description), "--http", f"127.0.0.1:{self._http}"),
            *("--listen", f"/ip4/127.0.0.1/tcp/{self._listen}", "--state", str(self._state)),
        )
        wait_for(lambda: "Serving" in program.said() or program.process.poll() is not None, 120.0, "it serves")
        assert program.process.poll() is None, program.complained()
        return program

    def address(self) -> str:
        peers: list[str] = self.read("manifest.json")["initial_peers"]
        return peers[0]

    def read(self, page: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self._http}/{page}", timeout=10) as answer:
            return json.load(answer)


def described(folder: Path, others: list[str]) -> Path:
    """The practice project, small batches, with checkpoints soon; its other backbones in it."""
    file = project(folder, target_batch_size=96, checkpoint_every=2, evaluate_every=1)
    text = f'run_id = "together"\n{file.read_text()}'
    file.write_text(re.sub(r"(?m)^\[host\]$", f"[host]\nextra_peers = {json.dumps(others)}", text))
    return file


def epoch(volunteer: Profile) -> int:
    number: int = volunteer.status()["progress"]["epoch"]
    return number


def goes_on(volunteer: Profile, epochs: int = 3) -> int:
    """The epoch after some more that this volunteer has taken part in."""
    target = epoch(volunteer) + epochs
    return wait_for(lambda: now if (now := epoch(volunteer)) >= target else 0, 120.0, f"epoch {target}")


def test_backbones_may_be_away(machine: Machine) -> None:
    north = Organiser(machine, "north", [])
    first = north.start()
    identity = north.address()
    south = Organiser(machine, "south", [identity])
    second = south.start()
    assert south.read("manifest.json")["initial_peers"][1] == identity

    # Both are named in the manifest; one is gone before anybody has come.
    first.process.kill()
    ann, ben, cal = (machine.profile(name) for name in ("ann", "ben", "cal"))
    ann.start("contribute", south.url)
    ben.start("contribute", south.url)
    ann.until("contributing", 120.0)
    ben.until("contributing", 120.0)
    wait_for(lambda: ann.status()["progress"]["peers"] == 2, 60.0, "two peers")
    goes_on(ann)
    wait_for(lambda: south.read("checkpoints/latest.json")["epoch"] >= 2, 60.0, "a checkpoint")
    assert cal.run("projects", "add", south.url).returncode == 0

    # Then the other too: those who know each other go on, a newcomer waits and is told why.
    second.process.kill()
    machine.members()
    cal.start("contribute", "shakespeare")
    goes_on(ann)
    waiting = cal.until("failed", 180.0)
    assert "the server cannot be reached" in waiting["error"]
    assert waiting["retry_at"] is not None
    reached = goes_on(ben)

    # It comes back as the one it was, although the other is still away, and whoever waited comes in by itself.
    again = south.start()
    assert "begins without them" in again.complained()
    assert "resumed from the checkpoint of epoch" in again.complained()
    cal.until("contributing", 240.0)
    wait_for(lambda: epoch(cal) >= reached, 60.0, "the newcomer is where the others are")
    for volunteer in (ann, ben, cal):
        assert volunteer.run("quit").returncode == 0
    again.process.terminate()
    assert again.end() == 0
    machine.wait_until_nothing_is_left()
