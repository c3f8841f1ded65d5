"""Help, faults of the program, and what becomes another program."""

import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import main, window
from core.client.installation import core_command, core_environment
from core.client.profile import Profile
from tests.cli.conftest import ROOT, StartCli
from tests.cli.given import the_line

VERBS = ("contribute", "status", "pause", "resume", "quit", "projects", "limits", "history", "log", "doctor")


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_teaches_by_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--help"]) == 0
    assert f"\n  idlehive {verb}" in capsys.readouterr().out


def test_the_help_names_every_verb_and_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(f"\n    {verb} " in said for verb in (*VERBS, "host"))
    assert max(len(line) for line in said.splitlines()) <= 80


def test_the_status_is_told_without_the_other_verbs() -> None:
    """Scripts ask for it again and again."""
    program = "import sys; from app.cli import main; main(['status', '--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "app.cli.status" in loaded
    assert not loaded & {"app.cli.contribute", "app.cli.projects", "app.cli.doctor", "importlib.metadata", "traceback"}
    assert not loaded & {"app.cli.console.display", "dataclasses", "inspect", "json", "typing_extensions"}


def test_a_command_that_ends_leaves_the_garbage_collector_nothing_to_look_at(profile: Profile) -> None:
    program = (
        "import atexit, gc; atexit.register(lambda: print(len(gc.get_objects())))\n"
        "from app.cli import main; main(['status']); print(gc.isenabled())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    *_, collects, left = done.stdout.split()
    assert collects == "True"
    assert int(left) == 0


def test_the_help_of_open_opens_no_window(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(window, "run", lambda _: pytest.fail("the window was opened"))
    assert main(["open", "--help"]) == 0
    assert "\n  idlehive open bees.idlehive" in capsys.readouterr().out


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("idlehive ")


def test_a_fault_of_the_program_keeps_its_traceback_in_a_file(
    profile: Profile, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr("app.cli.status.lines", fail)
    assert main(["status"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("idlehive: something went wrong inside Idlehive (ZeroDivisionError); ")
    assert said.endswith(f"{profile.logs}/cli-crash.log has the details.\n")
    assert "ZeroDivisionError: a fault" in (profile.logs / "cli-crash.log").read_text()


def test_a_full_disk_behind_the_output_is_one_sentence(profile: Profile) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "app", "status"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (
        1,
        "idlehive: The output cannot be written: No space left on device.\n",
    )


def test_host_words_why_the_backbone_cannot_serve(start_cli: StartCli, tmp_path: Path) -> None:
    file = tmp_path / "project.toml"
    file.write_text("format = = 1")
    wrong = start_cli("host", str(file))
    missing = start_cli("host", str(tmp_path / "absent.toml"))
    _, complaint = wrong.communicate(timeout=30)
    assert the_line(complaint).startswith(f"idlehive: {file} is not TOML: ")
    out, complaint = missing.communicate(timeout=30)
    assert the_line(complaint) == f"idlehive: {tmp_path}/absent.toml cannot be read: No such file or directory."
    assert (wrong.returncode, missing.returncode, out) == (2, 2, "")


def test_host_shows_the_help_of_the_backbone(start_cli: StartCli) -> None:
    shown = start_cli("host", "--help")
    assert "--listen MULTIADDR" in shown.communicate(timeout=30)[0]
    assert shown.returncode == 0


@pytest.mark.parametrize(
    ("environment", "platform", "there"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ""}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"QT_QPA_PLATFORM": "offscreen"}, "linux", True),
        ({"QT_QPA_PLATFORM": "xcb"}, "linux", False),
        ({}, "darwin", True),
    ],
)
def test_a_display_is_looked_for_before_qt_ends_the_process(
    environment: dict[str, str], platform: str, there: bool
) -> None:
    assert window.has_display(environment, platform) is there


def test_modules_of_core_run_from_any_folder(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "__init__.py").write_text("raise SystemExit('a stranger')")
    command = core_command("core.client.profile")
    assert subprocess.run(command, cwd=tmp_path, env=core_environment(), check=False).returncode == 0
