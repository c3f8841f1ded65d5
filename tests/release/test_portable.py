"""The exchange of two folders where the file system cannot do it in one step."""

import ctypes
import errno
from pathlib import Path

import pytest

from core.release import portable


@pytest.fixture
def without_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    class OldSystem:
        def renameat2(self, *_: object) -> int:
            ctypes.set_errno(errno.EINVAL)
            return -1

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: OldSystem())


def folder(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / "name").write_text(path.name)
    return path


@pytest.mark.usefixtures("without_exchange")
def test_two_steps_replace_a_folder_as_well(tmp_path: Path) -> None:
    root, new = folder(tmp_path / "root"), folder(tmp_path / "staging" / "new")
    portable.exchange(new, root)
    assert (root / "name").read_text() == "new"


@pytest.mark.usefixtures("without_exchange")
def test_a_second_step_that_fails_takes_back_the_first(tmp_path: Path) -> None:
    root, missing = folder(tmp_path / "root"), tmp_path / "staging" / "new"
    missing.parent.mkdir()
    with pytest.raises(FileNotFoundError):
        portable.exchange(missing, root)
    assert (root / "name").read_text() == "root"
