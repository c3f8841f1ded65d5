"""A project whose learning rate grows until the loss explodes: the session goes back, says so, and at last gives up."""

import re
from pathlib import Path

import pytest

from tests.end_to_end.machine import Machine, wait_for
from tests.end_to_end.organiser import Organiser

pytestmark = [pytest.mark.slow, pytest.mark.timeout(700)]

GOOD = 4
"""Epochs that go well: the rate is small until then."""


def blows_up(description: Path) -> None:
    """Each epoch's rate is larger than the one before; from about the tenth on no model stands it."""
    text = description.read_text()
    text = re.sub(r"learning_rate = [\d.]+", "learning_rate = 60.0", text)
    description.write_text(text.replace("warmup_epochs = 3", "warmup_epochs = 1000"))


def test_a_session_goes_back_to_its_last_good_state_says_so_and_gives_up_in_the_end(machine: Machine) -> None:
    organiser = Organiser(machine, "organiser", target_batch_size=64)
    blows_up(organiser.description)
    backbone = organiser.start()
    ann = machine.profile("ann")
    assert ann.start("contribute", organiser.url, "--until-epoch", str(GOOD)).end(300.0) == 0
    (copy,) = ann.home.copies.glob("*/checkpoint-*")
    kept = int(re.findall(r"\d+", copy.stem)[0])
    assert kept >= GOOD
    program = ann.start("contribute", "shakespeare")
    failed = ann.until("failed", 300.0)
    assert failed["error"].startswith("The loss diverged again and again")
    assert "ask the project's organiser" in failed["error"]
    # Three times it went back to what the first session had left behind.
    told = re.findall(
        r"The loss diverged at epoch (\d+) \((.*)\); the session went back to the state of epoch (\d+)\.",
        program.said(),
    )
    assert len(told) == 3, program.said()
    assert all(int(where) > int(back) == kept for where, _why, back in told), told
    print(told)
    assert ann.run("quit").returncode == 0
    backbone.process.terminate()
    assert backbone.end() == 0
    wait_for(lambda: not machine.members(), 15.0, "nothing is left")
