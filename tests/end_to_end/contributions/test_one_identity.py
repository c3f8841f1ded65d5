"""One volunteer on two computers, with the same key: both add up, and each records what it gave itself."""

import contextlib
import json
import os
import time
from typing import Any

import psutil
import pytest

from tests.end_to_end.contributions.test_contributions import identity, read
from tests.end_to_end.machine import Machine, Participant, wait_for
from tests.end_to_end.test_two_volunteers import host
from tests.fakes.http_server import closed_port

EPOCHS = 12
TARGET = 384
TOKENS, HIDDEN, FEED_FORWARD, LAYERS, EMBEDDING, VOCABULARY = 64, 128, 512, 4, 64, 2000
WEIGHTS = LAYERS * (4 * HIDDEN**2 + 2 * HIDDEN * FEED_FORWARD) + 2 * HIDDEN * EMBEDDING + EMBEDDING * VOCABULARY
ATTENTION = LAYERS * 2 * TOKENS * HIDDEN
FLOPS = 3 * TOKENS * 2 * (WEIGHTS + ATTENTION)
"""Of one sample of the practice model, by its description: a product forward, and two back."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(500)]


def given(volunteer: Participant) -> dict[str, Any]:
    """All that the volunteer's own record tells."""
    done = volunteer.run("history", "--json")
    assert done.returncode == 0, done.stderr
    totals: dict[str, Any] = json.loads(done.stdout)["totals"]
    return totals


def carry_over(desk: Participant, laptop: Participant) -> None:
    """The identity, in a file under a passphrase."""
    file = str(desk.home.path / "ann.identity")
    for volunteer, verb in ((desk, "export"), (laptop, "import")):
        done = volunteer.run("identity", verb, file, stdin="four little words\n")
        assert done.returncode == 0, done.stderr


def freeze_for_two_rounds(laptop: Participant, desk: Participant) -> None:
    """As a computer that is gone without a word, and comes back."""
    trainer = psutil.Process(laptop.status()["session"]["pid"])
    frozen, before = [trainer, *trainer.children(recursive=True)], given(desk)["rounds"]
    for process in frozen:
        process.suspend()
    try:
        # The first may have had the laptop in it.
        wait_for(lambda: given(desk)["rounds"] >= before + 2, 120.0, "rounds without the laptop")
    finally:
        for process in frozen:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.resume()


def test_one_identity_on_two_computers_adds_up_and_each_keeps_its_own_account(machine: Machine) -> None:
    port, begin = closed_port(), time.monotonic()
    backbone = host(machine, port)
    desk, laptop = machine.profile("desk"), machine.profile("laptop")
    carry_over(desk, laptop)
    assert identity(laptop) == identity(desk)
    for volunteer in (desk, laptop):
        # Engines that stay: the record is read while they work.
        assert volunteer.run("resume").returncode == 0
    url = f"http://127.0.0.1:{port}/manifest.json"
    programs = [each.start("contribute", url, "--until-epoch", str(EPOCHS)) for each in (desk, laptop)]
    wait_for(lambda: all(given(each)["rounds"] for each in (desk, laptop)), 200.0, "a round of both")
    place = wait_for(lambda: read(port, f"leaderboard.json?volunteer={identity(desk)}")["you"], 60.0, "a place")
    assert place["place"] == 1
    freeze_for_two_rounds(laptop, desk)
    wait_for(lambda: all(program.process.poll() is not None for program in programs), 200.0, "the epochs")
    for program in programs:
        assert program.end() == 0, program.complained()
    seconds = time.monotonic() - begin

    [entry] = read(port, "leaderboard.json")["entries"]
    own = [given(each) for each in (desk, laptop)]
    together = sum(each["accepted"] for each in own)
    print(f"{[each['accepted'] for each in own]} by the computers' own count, {entry['samples']} by the backbone's")
    assert entry["volunteer"] == identity(desk)
    assert all(each["accepted"] > 0 for each in own)
    assert 0 <= together - entry["samples"] <= 2 * TARGET, "at most the last round of each is missing"
    assert entry["samples"] > max(each["accepted"] for each in own), "neither alone gave as much"
    for each in own:
        print(
            {name: each[name] for name in ("rounds", "failed_rounds", "peers_met", "flops", "cpu_seconds", "seconds")}
        )
        assert each["rounds"] >= 2
        assert each["peers_met"] == 1
        assert each["flops"] == pytest.approx(FLOPS * each["samples"], rel=0.1)
        assert 0.2 * each["seconds"] < each["cpu_seconds"] < seconds * (os.cpu_count() or 1)
    for volunteer in (desk, laptop):
        assert volunteer.run("quit").returncode == 0
    backbone.process.terminate()
    assert backbone.end() == 0
    machine.wait_until_nothing_is_left()
