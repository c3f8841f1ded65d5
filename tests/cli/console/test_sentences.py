"""Whatever a verb says fits the terminal, in every language."""

import re

import pytest
from msgspec.structs import replace

from app.cli.console.layout import fitted, width
from app.text import i18n
from core.api.disk import DiskUse, FreeSpace, GetDiskUse
from core.api.errors import WorldError
from core.api.message import Message
from core.api.preferences.schedule import ScheduleState
from core.api.project.projects import (
    AddProject,
    JoinProject,
    LeaveProject,
    ListProjects,
    OrderProjects,
    ProjectDetails,
    RemoveProject,
    ShowProject,
)
from core.api.protocol import Quit
from core.api.reasons import Kind, Reason
from core.api.record.events import GetEvents, PastEvent
from core.api.record.record import GetHistory
from tests.cli.conftest import ROOT, RunCli
from tests.cli.console.test_tables import BEES, LARGE
from tests.cli.given import ACTIVE
from tests.fakes.scripted_engine import ScriptedEngine
from tests.preferences import Chosen

BUSY = Reason("processor_busy", hold=True, params={"share": 0.9, "limit": 0.75})
EVENT = PastEvent(
    "state", Message("processor_busy", {"share": 0.9, "limit": 0.75}), 1e9, "birds", "Birdsong of the Alps"
)
LACKS = Message("needs_gpu", {"needed": 6 * 10**9})
DETAILS = ProjectDetails(
    BEES, "AlbertForMaskedLM", "masked_language_modelling", 4096, 1, {"memory": 4 * 10**9}, (LACKS,)
)
SPOKEN = [
    "status", "pause", "pause --for 1h", "resume", "projects", "projects show bees", "projects add bees.json",
    "projects join bees", "projects leave bees", "projects remove bees", "projects order bees", "limits",
    "limits show threads", "limits set threads 2", "limits reset threads", "limits reset --all", "limits programs",
    "limits programs add blender", "schedule", "history", "disk", "disk --free", "events",
    "remote", "remote rename lab attic", "runtime", "update", "service", "identity", "contribute --for soon",
    "frobnicate", "projects shw", "schedule set mon-fri-22:10",
    "--help", "contribute --help", "limits set --help", "host --help", "doctor --help", "quit",
]  # fmt: skip


@pytest.fixture
def talkative(engine: ScriptedEngine) -> ScriptedEngine:
    """An engine with much to say."""
    busy = replace(ACTIVE, state="holding", reasons=(BUSY, Reason(Kind.NO_PROJECT, hold=True)))
    engine.show(replace(busy, project_name="The dances of the bees in spring", schedule=ScheduleState(zone="Etc/UTC")))
    warned = replace(BEES, warning=Message("needs_gpu", {"needed": 6 * 10**9}), rank=1)
    for command in (AddProject, JoinProject, LeaveProject):
        engine.answer(command, warned)
    for listing in (ListProjects, OrderProjects):
        engine.answer(listing, [warned])
    Chosen(engine).change("threads", 2)
    engine.answer(ShowProject, DETAILS)
    engine.answer(RemoveProject, None)
    engine.answer(GetHistory, [LARGE])
    engine.answer(GetEvents, [EVENT])
    engine.answer(GetDiskUse, DiskUse(*[10**9] * 8))
    engine.answer(FreeSpace, WorldError("disk_full"))
    engine.answer(Quit, None)
    return engine


def _is_whole(line: str) -> bool:
    """A word, or an example that is there to be copied."""
    return " " not in line.strip() or line.startswith("  idlehive ")


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("code", sorted(i18n.languages()))
def test_no_verb_says_more_in_a_line_than_the_terminal_has_room_for(
    talkative: ScriptedEngine, run_cli: RunCli, code: str, columns: int
) -> None:
    too_long = []
    for words in SPOKEN:
        done = run_cli(*words.split(), columns=columns, LC_ALL=f"{code}.UTF-8")
        said = (done.stdout + done.stderr).split("\n")
        assert any(said), words
        too_long += [(words, line) for line in said if width(line) > columns and not _is_whole(line)]
    assert not too_long


def test_only_the_console_prints() -> None:
    """What is printed past `say` is not fitted: raw logs, exports, prompts and lines that are fitted already."""
    known = {
        "doctor/checks.py": 1, "doctor/doctor.py": 1, "history/record_files.py": 1, "log.py": 1, "main.py": 1,
        "installation/runtime.py": 2,
    }  # fmt: skip
    folder = ROOT / "app" / "cli"
    others = [path for path in folder.rglob("*.py") if path.parent.name != "console"]
    found = {str(path.relative_to(folder)): len(re.findall(r"(?<![.\w])print\(", path.read_text())) for path in others}
    assert {name: count for name, count in found.items() if count} == known


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("fits", ["fits"]),
        ("one two three four", ["one two", "three four"]),
        ("  one two three", ["  one two", "  three"]),
        ("at  one two three", ["at  one", "    two", "    three"]),
        ("a: /very/long/path here", ["a:", "/very/long/path", "here"]),
        ("蜜蜂的舞蹈与飞行", ["蜜蜂的舞蹈", "与飞行"]),
        ("", [""]),
    ],
)
def test_a_line_goes_on_below_its_beginning_and_paths_stay_whole(text: str, lines: list[str]) -> None:
    assert fitted(text, 10) == lines
