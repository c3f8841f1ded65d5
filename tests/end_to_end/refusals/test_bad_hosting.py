"""What an organiser may get wrong: one sentence."""

import socket
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.machine import Machine, Participant, Program, wait_for
from tests.end_to_end.projects import project
from tests.end_to_end.refusals.refusals import sentence
from tests.fakes.http_server import closed_port

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def organiser(machine: Machine) -> Participant:
    return machine.profile("organiser")


def host(organiser: Participant, description: Path, *options: str) -> Program:
    state = organiser.home.path.parent / "state"
    return organiser.start("host", str(description), "--http", "127.0.0.1:0", "--state", str(state), *options)


@pytest.mark.slow
def test_a_port_in_use_is_told(machine: Machine, organiser: Participant) -> None:
    description = project(machine.folder)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        web = host(organiser, description, "--http", f"127.0.0.1:{port}")
        assert web.end(60.0) == 1
        assert "another program listens there" in sentence(web.complained())
        peers = host(organiser, description, "--listen", f"/ip4/127.0.0.1/tcp/{port}")
        assert peers.end(60.0) == 1
        told = f"/ip4/127.0.0.1/tcp/{port} cannot be used: another program listens there. Choose another port."
        assert f"idlehive: {told}" in peers.complained().splitlines()
    machine.wait_until_nothing_is_left()


@pytest.mark.slow
def test_a_second_backbone_in_the_same_folder_is_refused_and_the_first_goes_on(
    machine: Machine, organiser: Participant
) -> None:
    description = project(machine.folder)
    first = host(organiser, description)
    wait_for(lambda: "Serving" in first.said(), 60.0, "the backbone serves")
    second = host(organiser, description, "--listen", f"/ip4/127.0.0.1/tcp/{closed_port()}")
    assert second.end(60.0) == 1
    assert "is in use by another backbone" in sentence(second.complained())
    assert first.process.poll() is None
    first.process.terminate()
    assert first.end() == 0
    machine.wait_until_nothing_is_left()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": "Busy Bees"}, "id: Expected 1 to 64 lower-case letters"),
        ({"sequence_length": "long"}, "task.sequence_length: Expected int, got str"),
        ({"tokenizer": "missing.json"}, "tokenizer: "),
        ({"held_out": "missing.txt"}, "data.held_out: "),
        ({"architecture": "AlbertForMaskedCats"}, "model.architecture: "),
        ({"vocab_size": 500}, "model.config.vocab_size: "),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_a_wrong_project_is_refused_with_the_field(
    machine: Machine, organiser: Participant, change: dict[str, Any], words: str
) -> None:
    program = host(organiser, project(machine.folder, **change))
    assert program.end(60.0) == 2
    assert words in sentence(program.complained())
    machine.wait_until_nothing_is_left()


def test_what_is_no_toml_is_refused(machine: Machine, organiser: Participant) -> None:
    file = machine.folder / "project.toml"
    file.write_text("format = = 1")
    program = host(organiser, file)
    assert program.end(60.0) == 2
    assert f"{file} is not TOML: " in sentence(program.complained())
    missing = host(organiser, machine.folder / "nothing.toml")
    assert missing.end(60.0) == 2
    assert "No such file or directory" in sentence(missing.complained())
