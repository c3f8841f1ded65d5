"""Batches are made in a process of their own, the same ones as in this process."""

import hashlib
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psutil
import pytest
import torch

from core.api.errors import WorldError
from core.host.project import load
from core.learning.batch_process import BatchProcess
from core.learning.data import training_samples
from core.learning.model import build_model
from core.learning.order import Order, Samples
from core.learning.tasks import task_for
from core.learning.tasks.task import Batch
from core.trainer.microbatch import Stopped
from tests.end_to_end.machine import ROOT
from tests.waiting import wait_for

DIGESTS = {
    "practice": "dcabd606ea4eff6c",
    "projects/bengali": "06c8193fc580b1a7",
    "projects/next-token-llama": "fe1d51fdf1d709c7",
}
"""Of the first batches of two epochs. Peers that make others find each other's gradients wrong."""


class Counted:
    """A task whose batches are numbers; it notes in a file which it has made."""

    least_samples = 1

    def __init__(self, notes: Path, elements: int = 1) -> None:
        self._notes, self._elements = notes, elements

    def batches(self, samples: tuple[int, int], _size: int, seed: int) -> Iterator[Batch]:
        epoch, portion = samples
        for number in range(100):
            with self._notes.open("a") as notes:
                notes.write(f"{epoch}:{number} ")
            yield {"x": torch.full((1, self._elements), 1000 * portion + number)}

    @property
    def made(self) -> list[str]:
        return self._notes.read_text().split()


class Numbered(Order):
    """Its samples are epoch and portion."""

    def batches(self, epoch: int, portion: int) -> Iterator[Batch]:
        return self.task.batches((epoch, portion), 1, 0)


def numbered(task: Any) -> Order:
    return Numbered(task, lambda _seed, _portion: (), 1, "run", b"peer")


def of_project(folder: Path) -> Order:
    project = load(folder / "project.toml")
    manifest = project.manifest(Path("/nowhere"), ())
    assert manifest.tokenizer is not None
    task = task_for(manifest, build_model(manifest).config, project.path_of(manifest.tokenizer))
    samples = partial(training_samples, manifest.data, [project.path_of(shard) for shard in manifest.data.shards])
    return Order(task, samples, 8, "run", b"peer")


@pytest.mark.parametrize("name", DIGESTS)
def test_all_versions_and_both_processes_make_the_same_microbatches(name: str) -> None:
    order = of_project(ROOT / "resources" / name)
    with closing(BatchProcess(order)) as process:
        for samples in Samples(order), Samples(order, batches=process.batches):
            digest = hashlib.sha256()
            for epoch in (1, 1, 1, 2):
                for key, value in sorted(samples.take(epoch, 6)[1].items()):
                    digest.update(key.encode() + value.numpy().tobytes())
            assert digest.hexdigest()[:16] == DIGESTS[name]


@pytest.mark.parametrize("elements", [1, 1 << 18])
def test_samples_are_the_same_however_many_batches_an_epoch_has(tmp_path: Path, elements: int) -> None:
    """Also of another portion of the data, of an epoch that begins again, and where tensors are large."""
    order, epochs = numbered(Counted(tmp_path / "notes", elements)), [0, 0, 1, 1, 2, 2, 2, 3, 4, 4, 6, 6, 6, 7, 6, 7, 7]
    with closing(BatchProcess(order)) as process:
        samples = Samples(order, lambda epoch: int(epoch > 3), process.batches)
        taken = [samples.take(epoch, 1)[1]["x"] for epoch in epochs]
    assert [int(value[0, 0]) % 1000 for value in taken] == [0, 1, 0, 1, 0, 1, 2, 0, 0, 1, 0, 1, 2, 0, 0, 0, 1]
    assert [int(value[0, 0]) // 1000 for value in taken] == [int(epoch > 3) for epoch in epochs]
    assert all(value.shape == (1, elements) and value.eq(value[0, 0]).all() for value in taken)


def test_the_next_batches_are_made_while_one_is_in_use_also_those_of_the_next_epoch(tmp_path: Path) -> None:
    task = Counted(tmp_path / "notes")
    with closing(BatchProcess(numbered(task))) as process:
        samples = Samples(numbered(task), batches=process.batches)
        samples.take(0, 1)
        wait_for(lambda: set(task.made) == {"0:0", "0:1", "1:0"}, 10.0, "the next batch of this epoch, one of the next")
        for epoch in (0, 1):
            samples.take(epoch, 1)
        wait_for(lambda: {"1:1", "2:0"} <= set(task.made), 10.0, "as many as the epoch before had, and the next epoch")
        assert not {"1:2", "2:1"} & set(task.made)
        assert len(task.made) == len(set(task.made)), "nothing twice"


def test_a_long_epoch_may_have_one_batch_more_than_the_one_before_and_waits_for_none(tmp_path: Path) -> None:
    task = Counted(tmp_path / "notes")
    with closing(BatchProcess(numbered(task))) as process:
        samples = Samples(numbered(task), batches=process.batches)
        for epoch in (0,) * 8 + (1,) * 8:
            samples.take(epoch, 1)
        wait_for(lambda: {"1:8", "2:0"} <= set(task.made), 10.0, "another batch of the epoch, and the next epoch")


def test_an_error_comes_where_the_batch_would_and_reading_can_be_tried_again(tmp_path: Path) -> None:
    shard = tmp_path / "shard.txt"
    shard.write_text("text\n")

    class Read(Counted):
        def batches(self, samples: tuple[int, int], _size: int, seed: int) -> Iterator[Batch]:
            for batch in super().batches(samples, _size, seed):
                if int(batch["x"]) == 1 and not shard.exists():
                    raise WorldError("shard_not_readable", path=str(shard))
                yield batch

    shard.unlink()
    task = Read(tmp_path / "notes")
    with closing(BatchProcess(numbered(task))) as process:
        samples = Samples(numbered(task), batches=process.batches)
        assert int(samples.take(0, 1)[1]["x"]) == 0
        with pytest.raises(WorldError) as failed:
            samples.take(0, 1)
        assert (failed.value.message.kind, failed.value.message.params) == ("shard_not_readable", {"path": str(shard)})
        shard.write_text("text\n")
        assert [int(samples.take(epoch, 1)[1]["x"]) for epoch in (1, 1, 1)] == [0, 1, 2]


def test_a_process_that_is_killed_is_named(tmp_path: Path) -> None:
    with closing(BatchProcess(numbered(Counted(tmp_path / "notes")))) as process:
        samples = Samples(numbered(Counted(tmp_path / "notes")), batches=process.batches)
        samples.take(0, 1)
        process._process.kill()
        with pytest.raises(WorldError, match="data_process_ended"):
            deque((samples.take(0, 1) for _ in range(5)), maxlen=0)
        process.suspend()
        process.resume()


class Endless(Counted):
    """Needs the processor until it is ended for any batch but the first."""

    def batches(self, samples: tuple[int, int], _size: int, seed: int) -> Iterator[Batch]:
        yield from (batch for _, batch in zip(range(1), super().batches(samples, _size, seed), strict=False))
        while True:
            pass


def test_a_suspended_process_computes_nothing_and_can_be_ended(tmp_path: Path) -> None:
    with closing(BatchProcess(numbered(Endless(tmp_path / "notes")))) as process:
        Samples(numbered(Endless(tmp_path / "notes")), batches=process.batches).take(0, 1)
        child = process._process

        def used() -> float:
            times = child.cpu_times()
            return times.user + times.system

        begin = used()
        wait_for(lambda: used() > begin + 0.1, 20.0, "the next batch is being made")
        process.suspend()
        wait_for(lambda: child.status() == psutil.STATUS_STOPPED, 1.0, "stopped in the middle of it")
        process.resume()
        before = used()
        wait_for(lambda: used() > before + 0.05, 20.0, "it goes on")
        process.suspend()
    assert not child.is_running()


def test_waiting_for_a_batch_ends_with_a_pause_and_the_batch_comes_after_it(tmp_path: Path) -> None:
    may_go_on, is_held = tmp_path / "goes-on", Event()

    class Slow(Counted):
        def batches(self, samples: tuple[int, int], _size: int, seed: int) -> Iterator[Batch]:
            for batch in super().batches(samples, _size, seed):
                while not may_go_on.exists():
                    pass
                yield batch

    def check() -> None:
        if is_held.is_set():
            raise Stopped

    task = Slow(tmp_path / "notes")
    with closing(BatchProcess(numbered(task), check)) as process:
        samples = Samples(numbered(task), batches=process.batches)

        def hold() -> None:
            wait_for(lambda: "0:0" in task.made, 20.0, "the first batch is being made")
            is_held.set()
            process.suspend()

        pausing = Thread(target=hold)
        (tmp_path / "notes").touch()
        pausing.start()
        with pytest.raises(Stopped):
            samples.take(0, 1)
        pausing.join()
        with pytest.raises(Stopped):
            samples.take(0, 1)
        is_held.clear()
        may_go_on.touch()
        process.resume()
        assert [int(samples.take(0, 1)[1]["x"]) for _ in range(3)] == [0, 1, 2]


class Unreadable(Exception):
    """As that of some libraries: what it was made of is not in its arguments."""

    def __init__(self, path: str, line: int) -> None:
        super().__init__(f"{path}:{line}")


def test_what_cannot_be_received_is_an_end_and_not_endless_waiting(tmp_path: Path) -> None:
    class Broken(Counted):
        def batches(self, samples: tuple[int, int], _size: int, seed: int) -> Iterator[Batch]:
            raise Unreadable("shard", 1)

    order = numbered(Broken(tmp_path / "notes"))
    with closing(BatchProcess(order)) as process, pytest.raises(WorldError, match="data_process_ended"):
        Samples(order, batches=process.batches).take(0, 1)


def test_the_process_ends_with_its_parent_even_while_it_is_suspended() -> None:
    script = (
        "import sys, time\n"
        "from core.learning.batch_process import BatchProcess\n"
        "from core.system.subreaper import end_children_with_this_process\n"
        "end_children_with_this_process()\n"
        "process = BatchProcess(None)\n"
        "process.suspend()\n"
        "print(process._process.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        try:
            child = psutil.Process(int(parent.stdout.readline()))
            wait_for(lambda: child.status() == psutil.STATUS_STOPPED, 10.0, "it is suspended")
        finally:
            parent.kill()
    wait_for(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE, 10.0, "the kernel ends it")
