"""Wrong use, and what is common to all verbs."""

from typing import Any

import pytest

from core.api.errors import WorldError
from core.api.project.projects import ListProjects
from core.api.record.record import GetHistory
from tests.cli.conftest import RunCli, StartCli
from tests.cli.given import HALF_AN_HOUR, the_line
from tests.fakes.scripted_engine import ScriptedEngine


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("contrbute",), "did you mean “contribute”?"),
        (("frobnicate",), "There is no “frobnicate”; there are: contribute"),
        (("status", "--jsn"), "Unrecognized arguments: --jsn"),
        (("pause", "--for", "soon"), "“soon” is not a duration"),
        (("projects", "shw", "bees"), "did you mean “show”?"),
        (("projects", "show", "Bees!"), "“Bees!” is not a project"),
        (("projects", "add", "./nowhere.json"), "There is no file ./nowhere.json"),
        (("projects", "add", "/tmp"), "/tmp is a folder. Name the project's manifest in it"),
        (("projects", "add", ".."), ".. is a folder."),
        (("projects", "add", ""), "“” is not a project"),
        (("limits", "set", "cache_size", "3kB"), "Allowed: 64 MiB to 1 PiB."),
        (("limits", "set", "speed", "3"), "There is no preference named “speed”; there are: threads, gentle.threads,"),
        (("limits", "set"), "required: NAME, VALUE"),
        (("history", "--since", "once"), "“once” is not a date"),
        (("history", "--json", "--csv"), "not allowed with"),
        (("log", "-n", "many"), "“many” is not a number of lines"),
        (("schedule", "set", "mon-fri 22:10-06:00"), "does not start and end on half hours"),
        (("schedule", "set", "summer"), "a preset (always, nights, weekends, working_day_off, gentle, never)"),
        (("schedule", "set", "./week.txt"), "There is no file ./week.txt"),
        (("pause", "--for", "1h", "--until-change"), "not allowed with"),
        (("contribute", "--for", "2"), "“2” is not a duration"),
        (("contribute", "--until-epoch", "-3"), "“-3” is not the number of an epoch"),
    ],
)
def test_a_wrong_use_is_one_clear_line_and_code_2(
    profile: Any, run_cli: RunCli, words: tuple[str, ...], sentence: str
) -> None:
    done = run_cli(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in the_line(done.stderr)
    assert not profile.path.exists()


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
    engine.answer(GetHistory, [HALF_AN_HOUR] * 20_000)
    printing = start_cli("history", "--csv")
    assert printing.stdout
    assert printing.stderr
    printing.stdout.readline()
    printing.stdout.close()
    assert printing.stderr.read() == ""
    assert printing.wait(10) == 1
