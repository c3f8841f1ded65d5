"""Publishing is switched off in the middle of a session: nothing more is sent, and nobody is asked for the place."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.engine.projects.ranking import SOON
from tests.end_to_end.contributions.test_contributions import identity, read
from tests.end_to_end.machine import Machine, Participant, wait_for
from tests.end_to_end.test_two_volunteers import host
from tests.fakes.http_server import FakeServer, answer, closed_port, serving
from tests.swarm.dht.test_contributions import Peer, Statements

FURTHER = 5
"""Epochs that are watched after the switch, and three times in which the place would be asked for."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture
def ranking() -> Iterator[FakeServer]:
    """A leaderboard that knows nobody: an engine that may ask asks every ten seconds."""
    with serving(answer(200, b'{"volunteers": 0}')) as server:
        yield server


def manifest_with(port: int, leaderboard: str, file: Path) -> Path:
    """The backbone's own, but for the leaderboard's address."""
    manifest = read(port, "manifest.json")
    base = f"http://127.0.0.1:{port}/"
    for shard in (manifest["tokenizer"], manifest["data"]["held_out"], *manifest["data"]["shards"]):
        shard["url"] = base + shard["url"]
    absolute = {name: base + manifest[name] for name in ("curve", "demonstration")}
    file.write_text(json.dumps({**manifest, **absolute, "leaderboard": leaderboard}))
    return file


def epoch(volunteer: Participant) -> int:
    """In which the session is, once it contributes."""
    status = volunteer.status()
    return int(status["progress"]["epoch"]) if status["state"] == "contributing" else 0


def latest(statements: Statements) -> int:
    """The last epoch that a statement tells of."""
    return max((done[0] for _, _, rounds in statements for done in rounds), default=0)  # type: ignore[attr-defined]


def test_after_the_switch_a_running_session_publishes_nothing_more(
    machine: Machine, ranking: FakeServer, short_folder: Path
) -> None:
    port = closed_port()
    backbone = host(machine, port)
    ann = machine.profile("ann")
    id_ = identity(ann)
    # An engine that stays: it is asked while it works.
    assert ann.run("resume").returncode == 0
    manifest = manifest_with(port, ranking.url("leaderboard.json"), machine.folder / "manifest.json")
    published = read(port, "manifest.json")
    watching = Peer(short_folder / "w", short_folder / "w.key", published["initial_peers"][0], run=published["run_id"])
    try:
        program = ann.start("contribute", str(manifest), "--until-epoch", "1000")
        wait_for(lambda: watching.read() or program.process.poll() is not None, 200.0, "the peers have a statement")
        assert [who for who, *_ in watching.read()] == [id_], program.complained()
        wait_for(lambda: ranking.seen, 60.0, "the volunteer's place is asked for")
        assert ranking.seen[0]["path"] == f"/leaderboard.json?volunteer={id_}"
        pid = ann.status()["session"]["pid"]

        assert ann.run("limits", "set", "publish_contributions", "0").returncode == 0
        # One more may have been on its way.
        last, questions = epoch(ann) + 1, len(ranking.seen) + 1
        wait_for(lambda: epoch(ann) > last, 100.0, "the epoch after")
        frozen, counted = watching.read(), read(port, "leaderboard.json")["entries"]
        assert latest(frozen) <= last
        until = time.monotonic() + 3 * SOON
        wait_for(lambda: epoch(ann) > last + FURTHER and time.monotonic() > until, 200.0, "further epochs")
        assert ann.status()["session"]["pid"] == pid, "it is still the same session"
        assert watching.read() == frozen
        after = read(port, "leaderboard.json")["entries"]
        assert [(entry["samples"], entry["last_epoch"]) for entry in after] == [
            (entry["samples"], entry["last_epoch"]) for entry in counted
        ]
        assert after[0]["last_epoch"] <= last
        assert len(ranking.seen) <= questions
    finally:
        watching.end()
    assert ann.run("quit").returncode == 0
    program.end()
    backbone.process.terminate()
    assert backbone.end() == 0
    machine.wait_until_nothing_is_left()
