"""The run's state on this computer's disk."""

import logging
import os
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from core.swarm.state.checks import State, digest_of
from core.swarm.state.metadata_text import to_text
from core.trainer import local_copy
from core.trainer.local_copy import LocalCopy

UPDATES: list[Any] = [[7, 2, "00" * 8]]
NUMBERS: list[Any] = [{"type": "value", "value": 0.1}, {"type": "tensor", "index": 0}]


def state(epoch: int, value: float = 1.0) -> State:
    tensors = [torch.full((3, 4), value), torch.arange(5, dtype=torch.float32)]
    return {"epoch": epoch, "optimizer_metadata": NUMBERS, "updates": UPDATES}, tensors


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_what_was_written_is_read_with_epoch_numbers_and_updates(tmp_path: Path) -> None:
    copy = LocalCopy(tmp_path, "run")
    assert copy.read() is None
    copy.write(state(7))
    kept = copy.read()
    assert kept is not None
    assert kept[0] == state(7)[0]
    assert digest_of(kept[1]) == digest_of(state(7)[1])


def test_a_copy_of_an_earlier_version_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def to_old_text(metadata: dict[str, Any]) -> dict[str, str]:
        text = to_text(metadata)
        return {"optimizer": text["optimizer"], "trail": text["updates"]}

    monkeypatch.setattr(local_copy, "to_text", to_old_text)
    copy = LocalCopy(tmp_path, "run")
    copy.write(state(7))
    kept = copy.read()
    assert kept is not None
    assert kept[0] == state(7)[0]


def test_there_is_one_copy_a_run_and_eight_runs(tmp_path: Path) -> None:
    for number in range(10):
        copy = LocalCopy(tmp_path, f"run {number}")
        copy.write(state(1))
        copy.write(state(2))
        os.utime(copy._folder, (number, number))
    LocalCopy(tmp_path, "run 9").write(state(3))
    assert len(files(tmp_path)) == 8
    assert LocalCopy(tmp_path, "run 0").read() is None
    kept = LocalCopy(tmp_path, "run 9").read()
    assert kept is not None
    assert kept[0]["epoch"] == 3


def test_a_run_may_have_any_name(tmp_path: Path) -> None:
    LocalCopy(tmp_path / "copies", "../../evil").write(state(1))
    assert [path.name for path in tmp_path.iterdir()] == ["copies"]


@pytest.mark.parametrize("harm", ["cut", "bit", "nothing", "text"])
def test_a_damaged_copy_is_set_aside_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture, harm: str) -> None:
    copy = LocalCopy(tmp_path, "run")
    copy.write(state(7))
    (path,) = (path for path in tmp_path.rglob("*.safetensors"))
    whole = path.read_bytes()
    changed = whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:]
    path.write_bytes({"cut": whole[:-5], "bit": changed, "nothing": b"", "text": b"hello"}[harm])
    assert copy.read() is None
    assert "the copy is set aside" in caplog.text
    assert files(tmp_path) == ["set-aside.safetensors"]
    copy.write(state(8))
    kept = copy.read()
    assert kept is not None
    assert kept[0]["epoch"] == 8


def test_a_copy_of_another_run_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    LocalCopy(tmp_path, "one").write(state(7))
    other = LocalCopy(tmp_path, "other")
    LocalCopy(tmp_path, "one")._folder.rename(other._folder)
    assert other.read() is None
    assert "copy_of_another_run" in caplog.text


def test_a_place_that_takes_nothing_costs_a_sentence_and_not_the_old_copy(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    copy = LocalCopy(tmp_path, "run")
    copy.write(state(7))
    parts = [tmp_path, copy._folder]
    # A folder in the way of the temporary file does what a full disk does, also for root.
    growing = copy._folder / f".checkpoint-{8:09d}.safetensors.{os.getpid()}.part"
    growing.mkdir()
    copy.write(state(8))
    assert len(parts) == 2
    assert "the state will be fetched from peers next time" in caplog.text
    growing.rmdir()
    kept = copy.read()
    assert kept is not None
    assert kept[0]["epoch"] == 7


def test_now_and_then_is_not_at_once_and_not_on_this_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    copy = LocalCopy(tmp_path, "run")
    copy.write_if_due(lambda: state(7))
    assert files(tmp_path) == []
    monkeypatch.setattr(local_copy, "EVERY", 0.0)
    copy = LocalCopy(tmp_path, "run")
    copy.write_if_due(lambda: state(8))
    deadline = time.monotonic() + 10.0
    while not files(tmp_path) or files(tmp_path)[0].startswith("."):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    kept = copy.read()
    assert kept is not None
    assert kept[0]["epoch"] == 8
