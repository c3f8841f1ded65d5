"""A peer that sends broken data: the organiser reads who it was and why, and volunteers that one was removed."""

import urllib.request
from pathlib import Path

import pytest

from tests.end_to_end.machine import Machine, wait_for
from tests.end_to_end.organiser import Organiser

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

HOSTILE = Path(__file__).parents[1] / "network" / "hostile"


def test_who_sends_broken_data_is_named_to_the_organiser_and_no_volunteer_is_blamed(machine: Machine) -> None:
    organiser, attack = Organiser(machine, "organiser"), machine.folder / "attack"
    ann, mallory = machine.profile("ann"), machine.profile("mallory")
    mallory.add_environment(PYTHONPATH=str(HOSTILE), HOSTILE_WHEN=str(attack))
    for each in (ann, mallory):
        each.shares_the_processor()
    backbone = organiser.start()
    programs = [each.start("contribute", organiser.url) for each in (ann, mallory)]

    def are_together() -> bool:
        """Both, in groups with the backbone: it credits nobody else."""
        points = organiser.read("curve.json")["points"][-2:]
        return [point["peers"] for point in points] == [2, 2]

    wait_for(are_together, 200.0, "both take part in the same rounds as the backbone")
    attack.touch()
    [dropped] = wait_for(lambda: organiser.read("health.json")["dropped_peers"], 120.0, "the backbone drops it")
    assert dropped["reason"] == "values_out_of_range"

    address = organiser.url.removeprefix("http://").removesuffix("/manifest.json")
    told = organiser.profile.run("host", "status", "--http", address)
    print(told.stdout)
    assert told.returncode == 0, told.stderr
    [row] = [line for line in told.stdout.splitlines() if dropped["peer"] in line]
    assert row.endswith("it sent values that are not finite or far too large")
    for page, words in (("", "It sent values that are not finite"), ("metrics", 'reason="values_out_of_range"} 1')):
        with urllib.request.urlopen(f"http://{address}/{page}", timeout=10) as answer:
            assert words in answer.read().decode()
    assert f"The peer {dropped['peer']} was removed for 1 min: it sent values that are not finite" in backbone.said()

    wait_for(lambda: "A peer sent broken data and was removed." in programs[0].said(), 60.0, "the volunteer is told")
    print(programs[0].said())
    for program in programs:
        program.process.terminate()
        program.end()
    backbone.process.terminate()
    assert backbone.end() == 0
