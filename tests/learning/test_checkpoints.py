"""Checkpoints are there whole or not at all."""

import logging
import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from core.api.errors import WorldError
from core.learning.checkpoints import digest, latest, load, save, saved


def tensors(epoch: int = 0, size: int = 1000) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(epoch)
    weight = torch.randn(size, generator=generator)
    step = torch.tensor(epoch)
    return {"weight": weight, "half": weight.half().reshape(10, -1).t(), "step": step, "tied": weight}


def write(folder: Path, epoch: int, keep: int = 3, keep_every: int = 0) -> Path:
    return save(folder, tensors(epoch), epoch=epoch, run_id="run-1", keep=keep, keep_every=keep_every)


def test_a_checkpoint_comes_back_as_it_was(tmp_path: Path) -> None:
    written = tensors(7)
    save(tmp_path, written, epoch=7, run_id="run-1", metadata={"learning_rate": "0.01"})
    checkpoint = latest(tmp_path)
    assert checkpoint is not None
    assert checkpoint.epoch == 7
    assert checkpoint.metadata == {
        "epoch": "7",
        "run_id": "run-1",
        "learning_rate": "0.01",
        "sha256": digest(written),
    }
    for name, tensor in written.items():
        assert torch.equal(checkpoint.tensors[name], tensor)
        assert checkpoint.tensors[name].dtype == tensor.dtype


def test_the_newest_stay_and_every_tenth_for_good(tmp_path: Path) -> None:
    for epoch in range(5, 45, 5):
        write(tmp_path, epoch, keep=2, keep_every=20)
    assert [int(path.stem[-9:]) for path in saved(tmp_path)] == [20, 35, 40]


def test_there_may_be_none(tmp_path: Path) -> None:
    assert latest(tmp_path / "absent") is None
    assert saved(tmp_path) == []


def test_only_the_run_that_is_asked_for_is_found(tmp_path: Path) -> None:
    write(tmp_path, 1)
    save(tmp_path, tensors(2), epoch=2, run_id="run-2")
    found = latest(tmp_path, "run-1")
    assert found is not None
    assert found.epoch == 1
    assert latest(tmp_path, "run-3") is None


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 100)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)


def replace_with_noise(path: Path) -> None:
    path.write_bytes(os.urandom(5000))


@pytest.mark.parametrize("damage", [truncate, empty, flip_a_bit, replace_with_noise])
def test_a_damaged_one_is_passed_over_with_a_line_in_the_log(
    tmp_path: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, 1)
    damage(write(tmp_path, 2))
    with caplog.at_level(logging.WARNING):
        found = latest(tmp_path)
    assert found is not None
    assert found.epoch == 1
    assert "name=checkpoint-000000002.safetensors" in caplog.text


def test_a_pickle_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint-000000001.safetensors"
    torch.save({"weight": torch.zeros(3)}, path)
    with pytest.raises(WorldError, match="damaged"):
        load(path)


def test_what_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".checkpoint-000000001.safetensors.123.part").write_bytes(b"half")
    write(tmp_path, 2)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-000000002.safetensors"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root may mount the small file system that this test fills")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_one_sentence_and_leaves_the_one_before(small_disk: Path) -> None:
    write(small_disk, 1)
    with pytest.raises(WorldError) as caught:
        save(small_disk, tensors(2, size=200_000), epoch=2, run_id="run-1")
    assert str(caught.value) == (f"checkpoint_not_written epoch=2 folder={small_disk} detail=No space left on device")
    assert [path.name for path in small_disk.iterdir()] == ["checkpoint-000000001.safetensors"]
    found = latest(small_disk)
    assert found is not None
    assert found.epoch == 1


def test_a_file_that_may_not_grow_is_one_sentence_too(tmp_path: Path) -> None:
    write(tmp_path, 1)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(WorldError, match="checkpoint_not_written epoch=2"):
            save(tmp_path, tensors(2, size=200_000), epoch=2, run_id="run-1")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-000000001.safetensors"]
