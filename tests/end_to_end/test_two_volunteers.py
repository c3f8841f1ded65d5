"""A backbone and two volunteers, all real processes, train the practice model together, peer to peer."""

import json
import re
import urllib.request
from typing import Any

import pytest

from tests.end_to_end.machine import PRACTICE, Machine, Participant, Program, wait_for
from tests.fakes.http_server import closed_port

EPOCHS = 20

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def host(machine: Machine, port: int) -> Program:
    """The backbone of the practice project, once it serves."""
    where = ("--http", f"127.0.0.1:{port}", "--state", str(machine.folder / "state"))
    program = machine.profile("organiser").start("host", str(PRACTICE / "project.toml"), *where)
    wait_for(lambda: "Serving" in program.said() or program.process.poll() is not None, 60.0, "the backbone serves")
    assert program.process.poll() is None, program.complained()
    return program


def curve(port: int) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/curve.json", timeout=10) as answer:
        points: list[dict[str, Any]] = json.load(answer)["points"]
    return points


def epochs_told(program: Program, *, with_loss: bool = False) -> set[int]:
    """The numbers of the epochs of which `contribute` printed a line, or one with a loss."""
    pattern = r"Epoch ([\d,]+)" + (": loss" if with_loss else "")
    return {int(number.replace(",", "")) for number in re.findall(pattern, program.said())}


def most_peers(watch: Program) -> int:
    """As `status --json --watch` saw it."""
    lines = watch.said().splitlines()
    return max((json.loads(line)["progress"]["peers"] for line in lines[:-1]), default=0)


def watch(volunteer: Participant) -> Program:
    return volunteer.start("status", "--json", "--watch")


def test_two_volunteers_and_a_backbone_bring_the_loss_on_unseen_text_down(machine: Machine) -> None:
    port = closed_port()
    backbone = host(machine, port)
    ann, ben = machine.profile("ann"), machine.profile("ben")
    # Ann's engine runs already and stays until `quit`; Ben's is started and ended by `contribute`.
    assert ann.run("resume").returncode == 0
    watches = [watch(ann), watch(ben)]
    url = f"http://127.0.0.1:{port}/manifest.json"
    programs = [each.start("contribute", url, "--until-epoch", str(EPOCHS)) for each in (ann, ben)]
    wait_for(lambda: machine.members() and all(p.process.poll() is not None for p in programs), 300.0, "the epochs")
    for program in programs:
        assert program.end() == 0, program.complained()
    told = [epochs_told(program) for program in programs]
    assert set(range(3, EPOCHS)) <= told[0] & told[1], told
    peers = [most_peers(each) for each in watches]
    assert min(peers) >= 2, peers
    wait_for(lambda: curve(port)[-1]["epoch"] >= EPOCHS - 3, 30.0, "the backbone's own evaluation")
    losses = {p["epoch"]: p["evaluation_loss"] for p in curve(port) if p["evaluation_loss"] is not None}
    first, last = losses[min(losses)], losses[max(losses)]
    print(f"evaluation loss: {first:.3f} in epoch {min(losses)}, {last:.3f} in epoch {max(losses)}; peers: {peers}")
    assert last <= 0.9 * first, losses

    for each in watches:
        each.process.terminate()
        each.end()
    assert ann.run("quit").stdout == "The engine has ended.\n"
    backbone.process.terminate()
    assert backbone.end() == 0
    machine.wait_until_nothing_is_left()
    given = json.loads(ann.run("history", "--json").stdout)["totals"]
    assert given["samples"] > 0
    assert given["rounds"] > 0
