"""`idlehive remote` and `--machine`, with a real engine in a second profile behind a real sshd."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.api import protocol
from core.api.snapshot import Snapshot
from core.client.profile import Profile
from tests.cli.conftest import RunCli, StartCli
from tests.fakes.running_engine import RunningEngine
from tests.fakes.scripted_engine import ScriptedEngine
from tests.fakes.ssh_server import SshServer, needs_sshd


@pytest.fixture
def there(far: Profile, tmp_path: Path) -> Iterator[RunningEngine]:
    engine = RunningEngine(far, tmp_path)
    try:
        yield engine.start()
    finally:
        engine.clean_up()


@needs_sshd
def test_another_machine_is_watched_limited_and_paused_and_its_history_fetched(
    ssh_server: SshServer, there: RunningEngine, run_cli: RunCli
) -> None:
    assert run_cli("remote", "add", "lab", "ssh://lab").stdout.startswith("lab is in the list. ")
    there.contribute()
    assert json.loads(run_cli("--machine", "lab", "status", "--json").stdout)["state"] == "contributing"
    assert run_cli("status").stdout.startswith("Idle: the engine is not running.")
    limited = run_cli("limits", "set", "processor_share", "40", "--machine=lab")
    assert there.snapshot().settings.limits.processor_share == 40, limited.stderr
    assert run_cli("--machine", "lab", "pause").returncode == 0
    there.until("holding")
    found = json.loads(run_cli("remote", "--json").stdout)[0]
    assert (found["name"], found["state"]) == ("lab", "holding")
    collected = run_cli("history", "collect", "--json")
    assert json.loads(collected.stdout)[0]["new_hours"] >= 1, collected.stderr
    assert json.loads(run_cli("history", "collect", "--json").stdout)[0]["new_hours"] == 0
    own = json.loads(run_cli("history", "--json").stdout)
    assert own["contributions"] == json.loads(run_cli("--machine", "lab", "history", "--json").stdout)["contributions"]
    assert run_cli("--machine", "lab", "quit").stdout == "The engine has ended.\n"
    assert "No engine is running on lab." in run_cli("remote").stdout


def test_what_needs_more_than_the_engine_is_refused_with_where_to_do_it(run_cli: RunCli, tmp_path: Path) -> None:
    run_cli("remote", "add", "lab", "ssh://lab", PATH="")
    for verb in ("contribute", "log", "doctor", "remove-everything"):
        refused = run_cli("--machine", "lab", verb)
        assert refused.returncode == 2
        assert f"`idlehive {verb}` is for the computer on which it runs: log in to lab" in refused.stderr
    for words in (("history", "collect"), ("history", "export", "-")):
        refused = run_cli("--machine", "lab", *words, PATH="")
        assert refused.returncode == 2
        assert f"`idlehive {' '.join(words)}` is for the computer on which it runs: log in to lab" in refused.stderr
    (tmp_path / "m.json").write_text("{}")
    for words in (("projects", "add"), ("history", "export"), ("history", "import")):
        refused = run_cli(*words, str(tmp_path / "m.json"), "--machine", "lab")
        assert refused.returncode == 2
        assert "is a file of this computer" in refused.stderr


def test_the_other_end_of_a_connection_ends_quietly_when_nobody_reads(
    engine: ScriptedEngine, start_cli: StartCli
) -> None:
    process = start_cli("remote", "dial-stdio")
    assert process.stdin is not None
    assert process.stdout is not None
    assert "Hello" in process.stdout.readline()
    process.stdin.write(protocol.encode(protocol.Request(1, protocol.Subscribe())).decode())
    process.stdin.flush()
    engine.wait_for(protocol.Subscribe)
    process.stdout.close()
    engine.show(Snapshot("contributing"))
    assert process.wait(20) == 0


def test_a_machine_that_is_not_known_or_does_not_answer_is_said_in_a_line(run_cli: RunCli) -> None:
    assert "There is no machine called lab: `idlehive remote add" in run_cli("--machine", "lab", "status").stderr
    added = run_cli("remote", "add", "lab", "ssh://lab", PATH="")
    assert added.stdout == "lab is in the list. OpenSSH is not installed: the program `ssh` is not found.\n"
    refused = run_cli("--machine", "lab", "status", PATH="")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert run_cli("history", "collect", PATH="").returncode == 1
    assert run_cli("remote", "rename", "lab", "workshop").stdout == "lab is now called workshop.\n"
    assert run_cli("remote", "remove", "workshop").returncode == 0
    assert run_cli("remote").stdout.startswith("There are no other machines")
