"""Three volunteers, a backbone and a cheat, all real processes: the backbone's totals are the volunteers' own."""

import json
import urllib.request
from typing import Any

import pytest

from tests.end_to_end.machine import Machine, Participant, wait_for
from tests.end_to_end.test_two_volunteers import host
from tests.fakes.http_server import closed_port

EPOCHS = 16
TARGET = 512
LIES = ["malformed", "replayed", "forged", "of a round it was not in"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(500)]


def read(port: int, path: str) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=10) as answer:
        return json.load(answer)


def identity(volunteer: Participant) -> str:
    done = volunteer.run("identity", "--json")
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["id"])


def accepted(volunteer: Participant) -> int:
    """By the volunteer's own record."""
    rows = json.loads(volunteer.run("history", "--json").stdout)["contributions"]
    return sum(row["accepted"] or 0 for row in rows)


def test_the_backbone_counts_what_volunteers_gave_and_nothing_that_a_cheat_says(machine: Machine) -> None:
    port = closed_port()
    backbone = host(machine, port)
    manifest = read(port, "manifest.json")
    volunteers = {name: machine.profile(name) for name in ("ann", "ben", "cem")}
    ids = {name: identity(volunteer) for name, volunteer in volunteers.items()}
    assert volunteers["ann"].run("identity", "name", "Ann of the Hill").returncode == 0
    url = f"http://127.0.0.1:{port}/manifest.json"
    programs = [each.start("contribute", url, "--until-epoch", str(EPOCHS)) for each in volunteers.values()]
    folder = machine.folder / "cheat"
    folder.mkdir()
    cheat = machine.profile("mallory").start(
        str(folder),
        manifest["run_id"],
        manifest["initial_peers"][0],
        f"http://127.0.0.1:{port}/leaderboard.json",
        module="tests.end_to_end.contributions.cheat",
    )
    wait_for(lambda: all(program.process.poll() is not None for program in programs), 400.0, "the epochs")
    for program in programs:
        assert program.end() == 0, program.complained()
    assert cheat.end(60.0) == 0, cheat.complained()
    assert cheat.said().splitlines() == LIES

    told = read(port, "leaderboard.json")
    by_id = {entry["volunteer"]: entry for entry in told["entries"]}
    assert set(by_id) == set(ids.values()), "nobody else, and nothing of the cheat"
    assert by_id[ids["ann"]]["name"] == "Ann of the Hill"
    assert by_id[ids["ben"]]["name"] is None
    for name, volunteer in volunteers.items():
        own = accepted(volunteer)
        counted = by_id[ids[name]]["samples"]
        print(f"{name}: {own} by their own count, {counted} by the backbone's")
        assert own > 0
        assert 0 <= own - counted <= TARGET, "at most the last round is missing"
    rejected = told["rejected"]
    print(f"rejected: {rejected}")
    assert set(rejected) == set(LIES), backbone.complained()
    for reason in rejected:
        assert f"a contribution was rejected: {reason}" in backbone.complained()
    backbone.process.terminate()
    assert backbone.end() == 0
    machine.wait_until_nothing_is_left()
