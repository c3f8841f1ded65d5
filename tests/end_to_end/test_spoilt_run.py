"""A run whose state is spoilt for all: it goes back to the last checkpoint, and its volunteers go on from there."""

import json
from pathlib import Path

import pytest

from tests.end_to_end.machine import Machine, wait_for
from tests.end_to_end.organiser import Organiser
from tests.end_to_end.test_two_volunteers import epochs_told

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

AHEAD = 4
"""Epochs from the one that the backbone has evaluated to the one that is spoilt: all peers are to know of it before."""
BEYOND = 3
"""Epochs for which the run goes on afterwards."""


def evaluations(organiser: Organiser) -> dict[int, float]:
    """The evaluation losses by epoch."""
    points = organiser.read("curve.json")["points"]
    return {point["epoch"]: point["evaluation_loss"] for point in points if point["evaluation_loss"] is not None}


def test_a_run_that_was_spoilt_goes_back_by_itself_and_its_volunteers_go_on(machine: Machine) -> None:
    organiser = Organiser(machine, "organiser")
    ann, ben = machine.profile("ann"), machine.profile("ben")
    spoilt_at = machine.folder / "spoilt"
    for each in (organiser.profile, ann, ben):
        each.add_environment(PYTHONPATH=str(Path(__file__).parent / "spoiling"), SPOILT_EPOCH=str(spoilt_at))
    for each in (ann, ben):
        each.shares_the_processor()
    backbone = organiser.start()
    programs = [each.start("contribute", organiser.url) for each in (ann, ben)]
    wait_for(lambda: len(evaluations(organiser)) >= 2, 120.0, "the backbone is in the run")
    spoilt = max(evaluations(organiser)) + AHEAD
    spoilt_at.with_suffix(".new").write_text(str(spoilt))
    spoilt_at.with_suffix(".new").rename(spoilt_at)
    jump = wait_for(lambda: organiser.read("health.json")["jump"], 200.0, "the organiser is told")
    assert jump["loss"] > 1.2 * jump["before"]
    assert spoilt - 3 <= jump["to_epoch"] < spoilt <= jump["epoch"]
    last = jump["epoch"] + 3 + BEYOND
    wait_for(lambda: all(max(epochs_told(program)) >= last for program in programs), 150.0, "both go on")

    wait_for(lambda: max(evaluations(organiser)) >= last, 60.0, "the backbone's evaluation")
    losses = evaluations(organiser)
    resumed = min(epoch for epoch in losses if epoch > jump["epoch"])
    points = organiser.read("curve.json")["points"]
    seconds = next(point["at"] for point in points if point["epoch"] > resumed and point["peers"]) - jump["at"]
    print(f"{jump}, evaluations {losses}, next update after {seconds:.1f} s")
    assert losses[resumed] == losses[jump["to_epoch"]], "the very state"
    assert losses[max(losses)] < losses[resumed]
    assert organiser.read("health.json")["jump"] == jump, "it went back once"
    assert losses[jump["epoch"]] == jump["loss"]
    kept = {path.stem.removeprefix("checkpoint-") for path in organiser.checkpoints.glob("checkpoint-*")}
    assert f"{jump['epoch']:09d}" not in kept

    for each, program in zip((ann, ben), programs, strict=True):
        assert each.run("quit").returncode == 0
        program.end()
        given = json.loads(each.run("history", "--json").stdout)["totals"]
        told = epochs_told(program)
        print(sorted(told), given)
        # One line for each update, and one round for each that it was in. One that it missed is made from what others
        # give, and has no loss. Those between the jump and the new epoch do not exist.
        assert len(epochs_told(program, with_loss=True)) <= given["rounds"] <= len(told)
        assert not told & set(range(jump["epoch"] + 2, resumed))
    backbone.process.terminate()
    assert backbone.end() == 0
    machine.wait_until_nothing_is_left()
