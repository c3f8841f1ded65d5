"""The history of another machine on a computer that has no room for it."""

import errno
from pathlib import Path

import pytest

from core.api.errors import WorldError
from core.api.machines import Machine
from core.api.record.record import Written
from core.client import collecting, ssh


def test_a_full_disk_is_said_and_nothing_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    added: list[Path] = []

    def add(file: Path) -> Written:
        added.append(file)
        return Written(str(file), 0, 0, 0)

    monkeypatch.setattr(ssh, "fetch", lambda *_, **__: b"{}")
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(WorldError, match=r"file_not_written .*No space left"):
        collecting.collect(Machine("lab", "ssh://lab"), add)
    assert added == []
