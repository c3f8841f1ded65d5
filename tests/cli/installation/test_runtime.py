"""`idlehive runtime`: what is installed, its installation with progress, its removal."""

import json
import signal

import pytest
from msgspec.structs import replace

from core.api.installation.compute_runtime import ComputeRuntime, InstallRuntime, RemoveRuntime
from core.api.message import Message
from core.api.protocol import Quit
from core.client import engine_client
from tests.cli.conftest import RunCli, StartCli
from tests.cli.given import ACTIVE, the_line
from tests.fakes.scripted_engine import ScriptedEngine

READY = replace(ACTIVE, compute=ComputeRuntime(ready=True))


def test_what_is_installed_is_told(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.show(replace(ACTIVE, compute=ComputeRuntime(ready=True, build="cuda")))
    assert run_cli("runtime").stdout == "Installed, for NVIDIA's graphics cards.\n"
    assert json.loads(run_cli("runtime", "status", "--json").stdout)["build"] == "cuda"


@pytest.mark.parametrize(("verb", "command"), [("install", InstallRuntime()), ("repair", InstallRuntime(repair=True))])
def test_an_installation_is_followed_to_its_end(
    engine: ScriptedEngine, start_cli: StartCli, verb: str, command: InstallRuntime
) -> None:
    downloading = ComputeRuntime(step="downloading", done=5_000_000, total=10_000_000)
    engine.answer(InstallRuntime, lambda _: engine.show(replace(ACTIVE, compute=downloading)))
    process = start_cli("runtime", verb)
    assert process.stderr is not None
    assert process.stderr.readline().replace("\N{NO-BREAK SPACE}", " ") == "Downloading: 5.0 MB of 10.0 MB.\n"
    engine.show(READY)
    said, _ = process.communicate(timeout=20)
    assert (process.returncode, said) == (0, "Installed, for the processor.\n")
    assert engine.received(InstallRuntime) == [command]
    assert not engine.received(Quit)


def test_ctrl_c_stops_the_installation_of_an_engine_that_goes_on(engine: ScriptedEngine, start_cli: StartCli) -> None:
    downloading = ComputeRuntime(step="downloading", done=5_000_000, total=10_000_000)
    engine.answer(InstallRuntime, lambda _: engine.show(replace(ACTIVE, compute=downloading)))
    engine.answer(RemoveRuntime, None)
    process = start_cli("runtime", "install")
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert (process.returncode, said) == (1, "idlehive: Interrupted.\n")
    assert engine.received(RemoveRuntime) == [RemoveRuntime(only_stop=True)]


def test_an_installation_that_fails_says_why(engine: ScriptedEngine, run_cli: RunCli) -> None:
    failed = ComputeRuntime(failure=Message("runtime_interrupted"))
    engine.answer(InstallRuntime, lambda _: engine.show(replace(ACTIVE, compute=failed)))
    done = run_cli("runtime", "install")
    assert done.returncode == 1
    assert the_line(done.stderr) == "idlehive: The installation of the libraries was interrupted."


def test_an_engine_that_ends_before_its_last_reply_does_not_spoil_an_installation(
    engine: ScriptedEngine, run_cli: RunCli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_client, "ensure_engine", lambda _: True)
    engine.answer(InstallRuntime, lambda _: engine.show(READY))
    engine.answer(Quit, lambda _: engine.stop())
    done = run_cli("runtime", "install")
    assert (done.returncode, done.stderr) == (0, "")
    assert engine.received(Quit) == [Quit()]


def test_removing_removes_all_and_does_not_only_stop(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(RemoveRuntime, lambda _: engine.show(replace(ACTIVE, compute=ComputeRuntime(removed=True))))
    said = "Not installed: you stopped the installation or removed them. Contributing needs them.\n"
    assert run_cli("runtime", "remove").stdout == said
    assert engine.received(RemoveRuntime) == [RemoveRuntime()]


def test_wsl_is_set_up_only_after_consent_and_a_pipe_gives_none(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.show(replace(ACTIVE, compute=ComputeRuntime(needs_consent=True)))
    engine.answer(InstallRuntime, lambda _: engine.show(READY))
    refused = run_cli("runtime", "install")
    assert refused.returncode == 2
    assert the_line(refused.stderr).startswith("idlehive: Idlehive sets up WSL only after you have agreed")
    assert not engine.received(InstallRuntime)
    assert run_cli("runtime", "install", "--yes").returncode == 0
    assert engine.received(InstallRuntime) == [InstallRuntime(agreed=True)]


def test_the_cards_that_reach_wsl_are_named(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.show(replace(ACTIVE, compute=ComputeRuntime(ready=True, build="cuda", gpus=("RTX 3060",))))
    assert run_cli("runtime").stdout == "Installed, for NVIDIA's graphics cards. Graphics cards in WSL: RTX 3060.\n"
    engine.show(replace(ACTIVE, compute=ComputeRuntime(ready=True, gpus=())))
    assert "No graphics card reaches WSL" in run_cli("runtime").stdout
