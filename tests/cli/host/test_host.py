"""An organiser's backbone in the terminal; a script stands for `core.host`."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.cli.host import host
from core.api import hosting
from core.api.errors import UsageError, WorldError
from core.api.message import Message
from core.api.session import Fault
from core.client.profile import Profile
from tests.cli.conftest import RunCli
from tests.cli.given import the_line
from tests.fakes.http_server import Behaviour, answer, serving

GERMAN = {"LC_ALL": "de_DE.UTF-8"}


def test_its_help_and_its_errors_are_in_the_language(run_cli: RunCli) -> None:
    said = run_cli("host", "--help", **GERMAN).stdout
    assert said.startswith("Aufruf: idlehive host")
    assert "Betreibt als Veranstalter das Rückgrat eines Projekts" in said
    assert "where peers connect" not in said
    wrong = run_cli("host", "--lisen", "x", **GERMAN)
    assert wrong.returncode == 2
    assert the_line(wrong.stderr).startswith("idlehive: Unbekannte Argumente: --lisen")


def test_a_project_that_cannot_be_read_is_one_line(tmp_path: Path, run_cli: RunCli) -> None:
    done = run_cli("host", str(tmp_path / "none.toml"), "--http", "127.0.0.1:0", **GERMAN)
    assert "lässt sich nicht lesen" in the_line(done.stderr)


@pytest.mark.usefixtures("english_again")
def test_what_the_backbone_tells_is_worded(
    profile: Profile, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = (
        hosting.Note(Message("host_resumed", {"epoch": 1200}), 1e9),
        hosting.Serving("http://127.0.0.1:1/manifest.json"),
        hosting.Note(Message("host_evaluated", {"epoch": 1201, "loss": 6.2123}), 1e9),
    )
    assert follow(monkeypatch, profile, *told) == 0
    first, serving, join, last = capsys.readouterr().out.splitlines()
    assert first.endswith("  Continued from the checkpoint of epoch 1 200.")
    assert serving == "Serving http://127.0.0.1:1/manifest.json"
    assert join == "Volunteers join with: idlehive contribute http://127.0.0.1:1/manifest.json"
    assert last.endswith("  Epoch 1 201: the loss on held-out data is 6.21.")


@pytest.mark.parametrize(("code", "kind"), [(2, UsageError), (1, WorldError)])
def test_a_failure_ends_it_as_the_backbone_says(
    profile: Profile, monkeypatch: pytest.MonkeyPatch, code: int, kind: type[Exception]
) -> None:
    with pytest.raises(kind, match="file_empty"):
        follow(monkeypatch, profile, Fault(Message("file_empty", {"path": "x"})), code=code)


def test_what_is_given_reaches_the_backbone(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.cli.main import command_line
    from core.host.__main__ import arguments

    given = ["host", "--http", "[::1]:80", "--listen=/ip4/0.0.0.0/tcp/1", "--companion", "-p.toml"]
    with pytest.raises(UsageError):
        command_line().parse_args(given)
    parsed = command_line().parse_args([*given[:-1], "p.toml"])
    reached = arguments(list(host._passed_on(parsed)))
    assert (reached.http, reached.listen, reached.companion) == ("[::1]:80", "/ip4/0.0.0.0/tcp/1", True)
    assert (reached.project, reached.state, reached.announce) == (Path("p.toml"), None, None)
    plain = arguments(list(host._passed_on(command_line().parse_args(["host", "p.toml"]))))
    assert plain.http == hosting.HTTP == "127.0.0.1:8330"


@pytest.mark.usefixtures("english_again")
def test_a_report_that_was_cut_off_is_left_out(
    profile: Profile, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The host was killed in the middle of it."""
    note = hosting.Note(Message("host_resumed", {"epoch": 1200}), 1e9)
    assert follow(monkeypatch, profile, note, cut=hosting.encode(note)[:20], code=1) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.endswith("  Continued from the checkpoint of epoch 1 200.")


def test_a_closed_pipe_ends_the_backbone_and_then_the_command_quietly(
    profile: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in `idlehive host p.toml | head -2`."""
    serving = hosting.encode(hosting.Serving("http://127.0.0.1:1/manifest.json"))
    script = f"""
import pathlib, signal, sys
def end(*_):
    pathlib.Path({str(tmp_path / "ended")!r}).touch()
    sys.exit()
signal.signal(signal.SIGTERM, end)
sys.stdout.buffer.write({serving!r})
sys.stdout.flush()
signal.pause()
"""
    program = f"""
import sys
from app.cli import main
from app.cli.host import host
host.compute_command = lambda *_: [sys.executable, "-c", {script!r}]
sys.exit(main(["host", "p.toml"]))
"""
    reading, writing = os.pipe()
    os.close(reading)
    command = subprocess.Popen(
        [sys.executable, "-c", program], stdout=writing, stderr=subprocess.PIPE, start_new_session=True
    )
    os.close(writing)
    try:
        _, errors = command.communicate(timeout=30)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(command.pid, signal.SIGKILL)
        command.wait()
    assert (command.returncode, errors) == (1, b"")
    assert (tmp_path / "ended").exists()


def follow(
    monkeypatch: pytest.MonkeyPatch, profile: Profile, *reports: hosting.HostReport, cut: bytes = b"", code: int = 0
) -> int:
    lines = b"".join(map(hosting.encode, reports)) + cut
    script = f"import sys; sys.stdout.buffer.write({lines!r}); sys.exit({code})"
    monkeypatch.setattr(host, "compute_command", lambda *_: [sys.executable, "-c", script])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    from app.cli.main import command_line

    return host.run(command_line().parse_args(["host", "p.toml"]), profile)


HEALTH = {"status": "ok", "epoch": 1201, "peers": 3, "dropped_peers": []}


def test_the_status_of_a_running_backbone_names_who_was_left_out_and_why(run_cli: RunCli) -> None:
    dropped = {"peer": "QmLiar\x1b[2J", "reason": "average_wrong", "at": time.time(), "seconds": 120.0}
    for health, last in (
        (HEALTH, "Nobody was left out within the last hour."),
        ({**HEALTH, "dropped_peers": [dropped]}, "it gave a wrong average"),
    ):
        with serving(answer(200, json.dumps(health).encode())) as server:
            address = server.url("").removeprefix("http://").strip("/")
            said = run_cli("host", "status", "--http", address)
            assert said.returncode == 0, said.stderr
            first, *_between, row = said.stdout.splitlines()
            assert first == "ok: 1 201 epochs, 3 peers"
            assert row.endswith(last)
            assert "\x1b" not in said.stdout
            assert json.loads(run_cli("host", "status", "--json", "--http", address).stdout) == health


def test_a_backbone_whose_table_is_silent_or_that_is_not_there_ends_with_code_one(run_cli: RunCli) -> None:
    with serving(answer(503, json.dumps({**HEALTH, "status": "dht_silent"}).encode())) as server:
        address = server.url("").removeprefix("http://").strip("/")
        said = run_cli("host", "status", "--http", address)
        assert (said.returncode, said.stdout.splitlines()[0]) == (1, "dht_silent: 1 201 epochs, 3 peers")
    silent = run_cli("host", "status", "--http", address)
    assert silent.returncode == 1
    assert f"No backbone answers at {address}" in the_line(silent.stderr)


@pytest.mark.parametrize(
    "said",
    [
        answer(404, b"<html>nothing here</html>"),
        answer(200, b"[1]"),
        answer(200, b"{}"),
        answer(200, b"[" * 100_000),
        answer(200, json.dumps({**HEALTH, "dropped_peers": [{"peer": "", "reason": "", "at": 1e300}]}).encode()),
        lambda handler: handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n"),
    ],
)
def test_another_server_at_the_address_is_no_backbone(said: Behaviour, run_cli: RunCli) -> None:
    with serving(said) as server:
        address = server.url("").removeprefix("http://").strip("/")
        told = run_cli("host", "status", "--http", address)
    assert told.returncode == 1
    assert f"No backbone answers at {address}" in the_line(told.stderr)
