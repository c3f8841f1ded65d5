"""A file is replaced only by one that is on the disk, and its name is on the disk before anybody is told."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.system.atomic_file import write_atomically


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the system is asked for, in order; it is carried out."""
    made: list[str] = []

    def noted(kind: str, name: Callable[[Any], str], function: Callable[..., Any]) -> Callable[..., Any]:
        def call(what: Any, *others: Any) -> Any:
            made.append(f"{kind} {name(what)}")
            return function(what, *others)

        return call

    monkeypatch.setattr(os, "fsync", noted("sync", _kind, os.fsync))
    monkeypatch.setattr(Path, "replace", noted("rename", lambda path: "part", Path.replace))
    return made


def _kind(descriptor: int) -> str:
    return "folder" if os.path.isdir(f"/dev/fd/{descriptor}") else "file"  # noqa: PTH112 - a descriptor


def test_content_goes_to_the_disk_before_the_name_and_the_name_before_the_answer(
    tmp_path: Path, calls: list[str]
) -> None:
    write_atomically(tmp_path / "kept", b"new")
    assert calls == ["sync file", "rename part", "sync folder"]
    assert (tmp_path / "kept").read_bytes() == b"new"


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_atomically(tmp_path / "kept", b"old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(tmp_path / "kept", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept").read_bytes() == b"old"
