"""limits programs: the list of programs to wait for."""

import json

from core.api.preferences.commands import SetPreference
from tests.cli.conftest import RunCli
from tests.fakes.scripted_engine import ScriptedEngine
from tests.preferences import Chosen


def test_programs_are_listed_added_and_removed(engine: ScriptedEngine, run_cli: RunCli) -> None:
    chosen = Chosen(engine)
    chosen.change("programs", ["steam", "Doom"])
    assert run_cli("limits", "programs").stdout == "Nothing is contributed while one of these runs: steam, Doom.\n"
    assert json.loads(run_cli("limits", "programs", "--json").stdout) == ["steam", "Doom"]
    run_cli("limits", "programs", "add", "/usr/bin/blender")
    assert (
        run_cli("limits", "programs", "remove", "doom", "steam").stdout
        == "Nothing is contributed while one of these runs: blender.\n"
    )
    assert engine.received(SetPreference) == [
        SetPreference("programs", ("steam", "Doom", "blender")),
        SetPreference("programs", ("blender",)),
    ]


def test_what_is_no_program_or_not_listed_is_a_wrong_use(engine: ScriptedEngine, run_cli: RunCli) -> None:
    Chosen(engine).change("programs", ["steam"])
    for words, said in (
        (("add", "/"), "“/” is not the name of a program"),
        (("remove", "doom"), "“doom” is not in the list."),
    ):
        done = run_cli("limits", "programs", *words)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert not engine.received(SetPreference)
