"""Removing everything: what was there before is there no more, and nothing else is gone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def paths(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.fixture
def person(tmp_path: Path) -> Path:
    """A home with a file of the person's own."""
    (tmp_path / ".config" / "autostart").mkdir(parents=True)
    (tmp_path / ".local" / "share").mkdir(parents=True)
    (tmp_path / ".config" / "autostart" / "other.desktop").write_text("[Desktop Entry]\n")
    return tmp_path


def idlehive(person: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    environment = {**kept, "HOME": str(person), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "app", *arguments]
    return subprocess.run(
        command, cwd=person, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def test_everything_that_idlehive_has_written_is_deleted_and_listed(person: Path) -> None:
    before = paths(person)
    assert idlehive(person, "limits", "set", "threads", "1").returncode == 0
    login = person / ".config" / "autostart" / "idlehive.desktop"
    login.write_text("[Desktop Entry]\n")
    assert len(paths(person)) > len(before) + 3
    done = idlehive(person, "remove-everything", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert paths(person) == before
    assert f"Deleted {login}\n" in done.stdout
    assert f"Deleted {person}/.local/share/idlehive/idlehive.sqlite\n" in done.stdout


def test_a_second_time_there_is_nothing_to_delete(person: Path) -> None:
    done = idlehive(person, "remove-everything", "--yes")
    assert (done.returncode, done.stdout) == (0, "There was nothing to delete.\n")


def test_nothing_is_deleted_without_an_answer(person: Path) -> None:
    idlehive(person, "limits", "set", "threads", "1")
    before = paths(person)
    done = idlehive(person, "remove-everything")
    assert done.returncode == 2
    assert done.stderr == "idlehive: Nothing is deleted without an answer: add --yes.\n"
    assert before <= paths(person)
