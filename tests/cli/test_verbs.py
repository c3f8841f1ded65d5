"""What each verb asks of the engine and says to the person, in real processes."""

import csv
import io
import json
import time
from typing import Any

import msgspec
import pytest

from core.api.errors import UsageError, WorldError
from core.api.history import Contribution, GetHistory
from core.api.intent import Pause, Resume
from core.api.limits import LimitInfo, ResetLimit, SetLimit, ShowLimits
from core.api.messages import Quit
from core.api.preferences import Limits
from core.api.projects import (
    AddProject,
    JoinProject,
    LeaveProject,
    ListProjects,
    OrderProjects,
    ProjectDetails,
    ProjectInfo,
    ShowProject,
)
from core.api.reasons import Kind, Reason
from core.api.snapshot import Place, Progress, Session, Snapshot, Surroundings, Traffic
from tests.cli.conftest import ROOT, RunCli, StartCli
from tests.fakes.scripted_engine import ScriptedEngine

PROJECT = ProjectInfo("bees", "Bees", "About bees.", "Org", "MIT", "https://example.org/bees.json", joined=True)
LIMIT = LimitInfo("cache_size", 20 * 10**9, 10 << 30, "bytes", 64 << 20, 1 << 50, 20 * 10**9, "storage")
ROW = Contribution(
    1800.0, 12_000, 12, 1, 3, 1700.0, uploaded=34_000_000, downloaded=12_000_000,
    session=1, project="bees", hour=1_760_000_400.0,
)  # fmt: skip
ACTIVE = Snapshot(
    state="contributing",
    project="bees",
    project_name="Bees",
    wanted=True,
    progress=Progress(epoch=17, samples=1234, loss=4.3, peers=5, samples_per_second=8.2, target_batch_size=4096),
    traffic=Traffic(34_000_000, 12_000_000, 1_200_000.0, 300_000.0),
    session=Session(77, 1_760_000_000.0),
    engine_pid=4242,
)
# The contract with scripts: keys may be added, never renamed or removed.
CONTRACT: dict[str, set[str]] = {
    "progress": {"epoch", "samples", "loss", "peers", "samples_per_second"},
    "traffic": {"uploaded", "downloaded", "upload_rate", "download_rate"},
    "session": {"pid", "started_at"},
}


def the_line(text: str) -> str:
    """The one line there must be."""
    assert text.count("\n") == 1
    assert text.endswith("\n")
    return text.strip()


def test_status_json_keeps_its_contract(engine: ScriptedEngine, run_cli: RunCli) -> None:
    reason = Reason(Kind.SNOOZED, hold=True, text="Paused for a while.", until=1_760_003_600.0)
    engine.show(Snapshot(**{**_fields(ACTIVE), "reasons": (reason,)}))
    told: dict[str, Any] = json.loads(run_cli("status", "--json").stdout)
    assert {"state", "reasons", "project", "limits"} <= told.keys()
    assert (told["state"], told["project"]) == ("contributing", "bees")
    assert told["reasons"][0].items() >= {
        "kind": "snoozed", "hold": True, "until": 1_760_003_600.0, "text": "Paused for a while."
    }.items()  # fmt: skip
    for part, keys in CONTRACT.items():
        assert keys <= told[part].keys()
    assert told["limits"]["cache_size"] > 0
    assert told["engine_pid"] == 4242


def test_status_json_without_an_engine_has_the_same_keys_and_starts_none(home: Any, run_cli: RunCli) -> None:
    told = json.loads(run_cli("status", "--json").stdout)
    assert (told["state"], told["engine_pid"], told["session"], told["reasons"]) == ("idle", 0, None, [])
    assert told.keys() == _fields(ACTIVE).keys()
    assert not home.path.exists()


def test_status_tells_a_person_what_goes_on(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.show(ACTIVE)
    said = run_cli("status").stdout
    assert said.startswith("Contributing to Bees\n")
    assert "1,234 samples at 8.2/s, 34 MB sent (1.2 MB/s)" in said


def test_status_tells_the_place_among_all(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.show(msgspec.structs.replace(ACTIVE, place=Place(3, 1400, 4800, 0.12, 0.0)))
    assert "Your place: 3 of 1,400, 12% of all samples as the project counts them" in run_cli("status").stdout
    assert json.loads(run_cli("status", "--json").stdout)["place"]["place"] == 3


def test_status_says_if_nobody_tells_whether_the_volunteer_is_there(engine: ScriptedEngine, run_cli: RunCli) -> None:
    on_gpu = msgspec.structs.replace(ACTIVE, limits=Limits(gpu="GPU-0"))
    engine.show(on_gpu)
    assert "Nobody tells whether you are using the computer" in run_cli("status").stdout
    engine.show(msgspec.structs.replace(on_gpu, surroundings=Surroundings(last_input=1_760_000_000.0)))
    assert "Nobody tells" not in run_cli("status").stdout


def test_status_without_an_engine_says_so(run_cli: RunCli) -> None:
    assert the_line(run_cli("status").stdout).startswith("Idle: the engine is not running.")


def test_status_needs_neither_qt_nor_torch_nor_rich(engine: ScriptedEngine, start_cli: StartCli) -> None:
    import subprocess
    import sys

    code = "import sys; from app.cli import main; main(['status']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert not {"PySide6", "torch", "hivemind", "numpy", "rich", "keyring"} & set(done.stderr.split())


def test_watching_as_json_gives_one_object_a_line(engine: ScriptedEngine, start_cli: StartCli) -> None:
    watching = start_cli("status", "--watch", "--json")
    assert watching.stdout
    assert json.loads(watching.stdout.readline())["state"] == "idle"
    engine.show(ACTIVE)
    assert json.loads(watching.stdout.readline())["state"] == "contributing"
    engine.stop()
    assert json.loads(watching.stdout.readline())["engine_pid"] == 0
    engine.start()
    assert json.loads(watching.stdout.readline())["state"] == "contributing"


def test_pause_for_a_while_says_until_when(engine: ScriptedEngine, run_cli: RunCli) -> None:
    said = the_line(run_cli("pause", "--for", "1h").stdout)
    assert engine.received(Pause) == [Pause(3600)]
    assert said.startswith("Paused until ")


def test_pause_and_resume(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.show(ACTIVE)
    assert run_cli("pause").returncode == 0
    assert the_line(run_cli("resume").stdout) == "Resumed."
    assert (engine.received(Pause), engine.received(Resume)) == ([Pause()], [Resume()])


def test_quit_ends_the_engine(engine: ScriptedEngine, run_cli: RunCli) -> None:
    assert the_line(run_cli("quit").stdout) == "The engine has ended."
    assert engine.received(Quit)


def test_quit_without_an_engine_is_done_already(run_cli: RunCli) -> None:
    done = run_cli("quit")
    assert (done.returncode, the_line(done.stdout)) == (0, "The engine was not running.")


def test_projects_are_listed(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(ListProjects, [PROJECT])
    said = run_cli("projects").stdout
    assert said.splitlines()[1].split() == ["bees", "Bees", "Org", "member"]
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
    assert run_cli("projects", "order", "ants", "bees").stdout == "From now on in this order: ants, bees.\n"
    assert engine.received(OrderProjects) == [OrderProjects(("ants", "bees"))]


def test_a_project_is_shown_with_what_this_computer_lacks(engine: ScriptedEngine, run_cli: RunCli) -> None:
    details = ProjectDetails(
        PROJECT, "AlbertForMaskedLM", "masked_language_modelling", 4096, 340_000_000,
        {"memory": 4 * 10**9, "upload": 125_000, "disk": 0}, ("There is too little memory.",),
    )  # fmt: skip
    engine.answer(ShowProject, details)
    said = run_cli("projects", "show", "bees").stdout
    assert "memory 4.0 GB, upload 125 kB/s" in said
    assert "There is too little memory." in said
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
    warned = ProjectInfo("bees", "Bees", "", "Org", "MIT", "x", joined=True, warning="No keyring.")
    engine.answer(JoinProject, warned)
    done = run_cli("projects", "join", "bees", "--invite", "token")
    assert (the_line(done.stdout), the_line(done.stderr)) == (
        "You are a member of Bees (bees) now.",
        "Warning: No keyring.",
    )


def test_an_empty_invite_is_a_wrong_use(engine: ScriptedEngine, run_cli: RunCli) -> None:
    assert run_cli("projects", "join", "bees", "--invite", "-").returncode == 2
    assert not engine.received(JoinProject)


def test_leaving_keeps_the_history(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(LeaveProject, PROJECT)
    assert "stays in your history" in run_cli("projects", "leave", "bees").stdout


def test_limits_are_shown_in_human_units(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(ShowLimits, [LIMIT])
    _, page, row = run_cli("limits").stdout.splitlines()
    assert page == "Disk"
    assert row.split() == ["cache_size", "20", "GB", "20", "GB", "10", "GiB", "from", "64", "MiB", "to", "1", "PiB"]


@pytest.mark.parametrize("value", [("20GB",), ("20", "GB")])
def test_a_limit_is_set_in_bytes(engine: ScriptedEngine, run_cli: RunCli, value: tuple[str, ...]) -> None:
    engine.answer(SetLimit, LIMIT)
    assert the_line(run_cli("limits", "set", "cache_size", *value).stdout) == "cache_size is 20 GB."
    assert engine.received(SetLimit) == [SetLimit("cache_size", 20 * 10**9)]


def test_a_limit_is_reset(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(ResetLimit, LIMIT)
    assert json.loads(run_cli("limits", "reset", "cache_size", "--json").stdout)["name"] == "cache_size"


def test_history_is_a_table_by_day_with_totals(engine: ScriptedEngine, run_cli: RunCli) -> None:
    later = Contribution(
        60.0, 500, 1, 0, 1, 50.0, 0.0, 7.2e6, uploaded=1_000_000, session=2, project="bees", hour=ROW.hour + 172_800
    )
    engine.answer(GetHistory, [ROW, ROW, later])
    _, first, second, total = run_cli("history").stdout.splitlines()
    assert first.split()[1:7] == ["bees", "1", "h", "24,000", "0", "6"]
    assert "2.00 kWh" in second
    assert total.split()[0] == "total"
    assert "24,500" in total


def test_history_as_csv_has_a_row_for_each_hour(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(GetHistory, [ROW])
    [row] = csv.DictReader(io.StringIO(run_cli("history", "--csv").stdout))
    assert (row["hour"], row["samples"], row["joules"]) == ("2025-10-09T09:00:00Z", "12000", "")


def test_history_as_json_has_rows_and_totals(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(GetHistory, [ROW, ROW])
    told = json.loads(run_cli("history", "--since", "2025-01-01", "--json").stdout)
    assert len(told["contributions"]) == 2
    assert told["totals"]["samples"] == 24_000
    since = engine.received(GetHistory)[0].since
    assert since == time.mktime((2025, 1, 1, 0, 0, 0, 0, 0, -1))


def test_an_empty_history_says_so(engine: ScriptedEngine, run_cli: RunCli) -> None:
    assert the_line(run_cli("history").stdout) == "Nothing was given yet."


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("contrbute",), "did you mean 'contribute'?"),
        (("frobnicate",), "There is no 'frobnicate'; there are: contribute"),
        (("status", "--jsn"), "Unrecognized arguments: --jsn"),
        (("pause", "--for", "soon"), "'soon' is not a duration"),
        (("projects", "shw", "bees"), "did you mean 'show'?"),
        (("projects", "show", "Bees!"), "'Bees!' is no project"),
        (("projects", "add", "./nowhere.json"), "There is no file ./nowhere.json"),
        (("limits", "set", "cache_size", "3kB"), "from 64 MiB to 1 PiB, not 3kB"),
        (("limits", "set", "speed", "3"), "There is no limit named 'speed'; there are: threads, gentle.threads,"),
        (("limits", "set"), "required: NAME, VALUE"),
        (("history", "--since", "once"), "'once' is not a date"),
        (("history", "--json", "--csv"), "not allowed with"),
        (("log", "-n", "many"), "'many' is not a number of lines"),
        (("schedule", "set", "mon-fri 22:10-06:00"), "does not fall on half hours"),
        (("schedule", "set", "summer"), "a preset (always, nights, weekends, working_day_off)"),
        (("schedule", "set", "./week.txt"), "There is no file ./week.txt"),
        (("pause", "--for", "1h", "--until-change"), "not allowed with"),
        (("contribute", "--for", "2"), "'2' is not a duration"),
        (("contribute", "--until-epoch", "-3"), "'-3' is not the number of an epoch"),
    ],
)
def test_a_wrong_use_is_one_clear_line_and_code_2(
    home: Any, run_cli: RunCli, words: tuple[str, ...], sentence: str
) -> None:
    done = run_cli(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in the_line(done.stderr)
    assert not home.path.exists()


def test_the_worlds_doing_is_one_line_and_code_1(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(ListProjects, WorldError("The catalogue cannot be reached:\nno network."))
    done = run_cli("projects")
    assert done.returncode == 1
    assert the_line(done.stderr) == "idlehive: The catalogue cannot be reached: no network."


def test_without_a_display_the_window_says_what_works(run_cli: RunCli) -> None:
    done = run_cli()
    assert done.returncode == 1
    assert "`idlehive contribute`" in the_line(done.stderr)


def test_a_reader_that_has_had_enough_is_no_error(engine: ScriptedEngine, start_cli: StartCli) -> None:
    engine.answer(GetHistory, [ROW] * 20_000)
    printing = start_cli("history", "--csv")
    assert printing.stdout
    assert printing.stderr
    printing.stdout.readline()
    printing.stdout.close()
    assert printing.stderr.read() == ""
    assert printing.wait(10) == 1


def _fields(snapshot: Snapshot) -> dict[str, Any]:
    return {name: getattr(snapshot, name) for name in Snapshot.__struct_fields__}
