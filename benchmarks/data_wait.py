"""The share of its time that a trainer waits for data.

    .venv/bin/python -m benchmarks.data_wait PROJECT_FOLDER [--epochs N] [--microbatches N]

Microbatches of a project as a session computes them, without peers: each epoch has so many. Measured is the time until
the next samples are there, as a share of all.
"""

import argparse
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from core.learning.light_imports import loading

with loading():
    import torch

    from core.host.project import load
    from core.learning.batch_process import BatchProcess
    from core.learning.data import training_samples
    from core.learning.model import build_model
    from core.learning.order import Order
    from core.learning.tasks import task_for
    from core.trainer.microbatch import Microbatches


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--microbatches", type=int, default=16, help="of one epoch")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    project = load(chosen.project / "project.toml")
    with tempfile.TemporaryDirectory(prefix="hive") as folder:
        manifest = project.manifest(Path(folder), ())
    model = build_model(manifest)
    model.train()
    task = task_for(manifest, model.config, project.path_of(manifest.tokenizer) if manifest.tokenizer else None)
    samples = partial(training_samples, manifest.data, [project.path_of(shard) for shard in manifest.data.shards])
    order = Order(task, samples, manifest.training.microbatch_size, manifest.run_id, b"peer")
    process = BatchProcess(order)
    work = Microbatches(order, model, torch.device("cpu"), batches=process.batches)
    work.compute(0, 0)
    waits, take = list[float](), work._samples.take

    def timed(*wanted: int) -> Any:
        start = time.perf_counter()
        taken = take(*wanted)
        waits.append(time.perf_counter() - start)
        return taken

    vars(work._samples)["take"] = timed
    began, first = time.perf_counter(), 0.0
    for epoch in range(1, chosen.epochs + 1):
        for number in range(chosen.microbatches):
            work.compute(epoch, 0)
            first += waits[-1] if not number else 0.0
            model.zero_grad()
    process.close()
    total, waiting, longest = time.perf_counter() - began, sum(waits), max(waits)
    print(f"{chosen.epochs} epochs of {chosen.microbatches} microbatches of {order.size}: {total:.1f} s")
    print(f"waiting for data {waiting / total:.2%}, longest {longest:.3f} s")
    print(f"of it before the first microbatch of an epoch: {first / waiting:.0%}")


if __name__ == "__main__":
    main()
