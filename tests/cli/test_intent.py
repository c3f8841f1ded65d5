"""`idlehive pause`, `resume` and `quit`."""

from core.api.intent import Pause, Resume
from core.api.protocol import Quit
from tests.cli.conftest import RunCli
from tests.cli.given import ACTIVE, the_line
from tests.fakes.scripted_engine import ScriptedEngine


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
