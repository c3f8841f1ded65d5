"""What taking part costs beside the computing itself.

Side by side in one process and one run: microbatches of a project (the practice project, unless another one is given)
with everything the trainer does to them (data, loss, `optimizer.step` of a live peer far from its target batch,
counters, pace, memory, reports twice a second), and through a bare PyTorch loop over the same model and threads, which
accumulates gradients over as many microbatches of the same data, and reads each loss. Its batches are made before, so
it waits for none. The two take turns in short blocks, so that a noisy machine disturbs both. The second ratio is that
of the processor time of the loop's thread, which other programs disturb less.

Run it with `.venv/bin/python -m benchmarks.overhead [PROJECT_FOLDER] [--samples N]`: samples of a microbatch; those of
the project if not given.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any

import msgspec
import torch

from core.api.session_settings import Limits
from core.host.project import load
from core.learning.batch_process import BatchProcess
from core.learning.data import training_samples
from core.learning.model import build_model
from core.learning.order import Order
from core.learning.tasks import task_for
from core.learning.tasks.task import Batch, Task
from core.swarm.build import make_optimizer
from core.swarm.dht.peer import join_swarm
from core.swarm.patches import install
from core.swarm.traffic.link import Link
from core.trainer.machine.contention import Contention
from core.trainer.machine.throttle import Throttle
from core.trainer.microbatch import Microbatches
from core.trainer.reporter import Reporter
from core.trainer.session_status import Joined, Measurements, SessionStatus
from tests.fakes.backbone import ScriptedBackbone

Block = tuple[float, float]
"""Seconds, and processor seconds of its thread."""
BLOCKS = 30
SAMPLES = 128
"""In one block, about: a second."""
_NO_LIMITS = Limits()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    practice = Path(__file__).parent.parent / "resources" / "practice"
    parser.add_argument("project", type=Path, nargs="?", default=practice, metavar="PROJECT_FOLDER")
    parser.add_argument("--samples", type=int, metavar="N", help="of a microbatch")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    project = load(chosen.project / "project.toml")
    with tempfile.TemporaryDirectory(prefix="hive") as folder:
        manifest = project.manifest(Path(folder), ())
        size = chosen.samples or manifest.training.microbatch_size
        shards = [project.path_of(shard) for shard in manifest.data.shards]
        link = Link()
        install(Path(folder), link)
        measured = Measurements(link)
        dht = join_swarm([], Path(folder) / "identity")
        shared, bare = build_model(manifest), build_model(manifest)
        task = task_for(manifest, shared.config, project.path_of(manifest.tokenizer) if manifest.tokenizer else None)
        training = msgspec.structs.replace(manifest.training, target_batch_size=10**9)
        optimizer = make_optimizer(
            dht=dht,
            run_id=manifest.run_id,
            parameters=shared.parameters(),
            training=training,
            averaging=manifest.averaging,
            backbone=ScriptedBackbone(),
        )
        status = SessionStatus(measured, Joined(optimizer, training.target_batch_size, 0), "contributing")
        reporter = Reporter(os.open(os.devnull, os.O_WRONLY))
        reporter.report(status.report)
        samples = partial(training_samples, manifest.data, shards)
        order = Order(task, samples, size, manifest.run_id, dht.peer_id.to_bytes())
        batch_process = BatchProcess(order)
        microbatches = Microbatches(order, shared, torch.device("cpu"), lambda: False, batches=batch_process.batches)
        throttle = Throttle(contention=Contention())
        batches = cycle(list(islice(order.batches(1, 0), max(1, manifest.training.target_batch_size // size))))
        bare_loop = accumulating(task, bare, batches, max(1, manifest.training.target_batch_size // size))

        def with_peers() -> None:
            measured.memory.check_beside(0)
            optimizer.grad_averager.lend()
            done = microbatches.compute(1, 0)
            measured.counters.add_microbatch(size, done.loss)
            optimizer.step_with(done.piece)
            optimizer.zero_grad()
            throttle.rest(_NO_LIMITS, 1, done.seconds)

        times = max(1, SAMPLES // size)
        report(measure(with_peers, lambda: next(bare_loop), times), size, times)
        reporter.stop()
        batch_process.close()
        optimizer.shutdown()
        dht.shutdown()


def accumulating(task: Task, model: Any, batches: Iterator[Batch], updates_after: int) -> Iterator[float]:
    """The bare loop: the loss of each microbatch."""
    for number in count(1):
        loss = task.loss(model, next(batches))
        loss.backward()
        if number % updates_after == 0:
            model.zero_grad()
        yield loss.item()


def measure(one: Callable[[], object], other: Callable[[], object], times: int) -> list[tuple[Block, Block]]:
    """A block of each, in turns; the first pair warms up."""
    pairs = []
    for number in range(BLOCKS + 1):
        if number % 2:
            pairs.append((seconds(one, times), seconds(other, times)))
        else:
            second = seconds(other, times)
            pairs.append((seconds(one, times), second))
    return pairs[1:]


def seconds(step: Callable[[], object], times: int) -> Block:
    start, used = time.perf_counter(), time.thread_time()
    for _ in range(times):
        step()
    return time.perf_counter() - start, time.thread_time() - used


def report(pairs: list[tuple[Block, Block]], size: int, times: int) -> None:
    samples = size * times
    ours, bare = (statistics.median(samples / pair[side][0] for pair in pairs) for side in (0, 1))
    print(f"trainer's loop  {ours:7.1f} samples/s (median of {BLOCKS} blocks)")
    print(f"bare PyTorch    {bare:7.1f} samples/s")
    print(f"a microbatch    {1000 * size / bare:7.1f} ms of bare PyTorch")
    for kind, name in enumerate(("ratio", "processor time")):
        ratios = [other[kind] / one[kind] for one, other in pairs]
        quartiles = statistics.quantiles(ratios, n=4)
        print(f"{name:15} {statistics.median(ratios):7.3f} (quartiles {quartiles[0]:.3f} to {quartiles[2]:.3f})")


if __name__ == "__main__":
    main()
