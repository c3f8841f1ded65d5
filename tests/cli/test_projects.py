"""`idlehive projects`."""

import json
from typing import Any

import msgspec
import pytest

from app.text.formats.numbers import size
from app.text.messages import sentence
from core.api.errors import UsageError
from core.api.message import Message
from core.api.project.projects import (
    AddProject,
    JoinProject,
    LeaveProject,
    ListProjects,
    OrderProjects,
    ProjectDetails,
    ProjectInfo,
    ShowProject,
)
from tests.cli.conftest import ROOT, RunCli
from tests.cli.given import the_line
from tests.fakes.scripted_engine import ScriptedEngine

PROJECT = ProjectInfo("bees", "Bees", "About bees.", "Org", "MIT", "https://example.org/bees.json", joined=True)


def test_projects_are_listed(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(ListProjects, [PROJECT])
    said = run_cli("projects").stdout
    assert said.splitlines()[1].split() == ["bees", "Bees", "Org", "Joined"]
    assert said == run_cli("projects", "list").stdout


@pytest.mark.parametrize(
    "words", [("projects", "--json"), ("projects", "list", "--json"), ("projects", "--json", "list")]
)
def test_projects_are_listed_as_json_wherever_the_option_stands(
    engine: ScriptedEngine, run_cli: RunCli, words: tuple[str, ...]
) -> None:
    engine.answer(ListProjects, [PROJECT])
    assert json.loads(run_cli(*words).stdout)[0]["id"] == "bees"


def test_the_order_of_preference_is_taken_and_told(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(
        OrderProjects, [msgspec.structs.replace(PROJECT, rank=2), msgspec.structs.replace(PROJECT, id="ants", rank=1)]
    )
    assert run_cli("projects", "order", "ants", "bees").stdout == "The order is now: ants, bees.\n"
    assert engine.received(OrderProjects) == [OrderProjects(("ants", "bees"))]


def test_a_project_is_shown_with_what_this_computer_lacks(engine: ScriptedEngine, run_cli: RunCli) -> None:
    details = ProjectDetails(
        PROJECT, "AlbertForMaskedLM", "masked_language_modelling", 4096, 340_000_000,
        {"memory": 4 * 10**9, "upload": 125_000, "disk": 0}, (Message("needs_gpu", {"needed": 6 * 10**9}),),
    )  # fmt: skip
    engine.answer(ShowProject, details)
    said = run_cli("projects", "show", "bees").stdout
    assert "4.0 GB of memory, 1.0 Mbit/s up" in said
    assert f"a graphics card with {size(6e9)} of memory; none was found here." in said
    assert engine.received(ShowProject) == [ShowProject("bees")]


def test_a_manifest_file_is_given_to_the_engine_with_its_whole_path(
    engine: ScriptedEngine, run_cli: RunCli, tmp_path: Any
) -> None:
    engine.answer(AddProject, PROJECT)
    relative = ROOT / "pyproject.toml"
    assert run_cli("projects", "add", "pyproject.toml").returncode == 0
    assert engine.received(AddProject) == [AddProject(str(relative))]


def test_a_broken_manifest_is_a_wrong_use(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(AddProject, UsageError("The project's manifest is not usable: $.id: missing"))
    done = run_cli("projects", "add", "https://example.org/bees.json")
    assert done.returncode == 2
    assert "$.id: missing" in the_line(done.stderr)


@pytest.mark.parametrize("words", [("--invite", "-"), ("--invite",)])
def test_an_invite_can_be_read_from_a_pipe(engine: ScriptedEngine, run_cli: RunCli, words: tuple[str, ...]) -> None:
    engine.answer(JoinProject, PROJECT)
    done = run_cli("projects", "join", "bees", *words, stdin="secret-token\n")
    assert engine.received(JoinProject) == [JoinProject("bees", "secret-token")]
    assert "secret-token" not in done.stdout + done.stderr


def test_a_secret_kept_in_a_file_is_warned_of(engine: ScriptedEngine, run_cli: RunCli) -> None:
    warned = ProjectInfo("bees", "Bees", "", "Org", "MIT", "x", joined=True, warning=Message("invite_in_file"))
    engine.answer(JoinProject, warned)
    done = run_cli("projects", "join", "bees", "--invite", "token")
    assert (the_line(done.stdout), the_line(done.stderr)) == (
        "You are now a member of Bees (bees).",
        f"Warning: {sentence(Message('invite_in_file'))}",
    )


def test_an_empty_invite_is_a_wrong_use(engine: ScriptedEngine, run_cli: RunCli) -> None:
    assert run_cli("projects", "join", "bees", "--invite", "-").returncode == 2
    assert not engine.received(JoinProject)


def test_leaving_keeps_the_history(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(LeaveProject, PROJECT)
    assert "stays in your history" in run_cli("projects", "leave", "bees").stdout
