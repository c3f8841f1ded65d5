"""How far a gradient that is computed again is from what its peer sent, on this machine.

Usage: python -m benchmarks.validation [PROJECT_FOLDER]

A trainer of the project (default: practice) computes 96 samples of an epoch, with parameters after some steps. Printed
are the deviations of what a validator finds, for each compression of averages, for one thread against two, and for
parameters that are another epoch's; then what it costs, in processor time and bytes.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import torch
from hivemind.compression import deserialize_torch_tensor, serialize_torch_tensor
from transformers import PreTrainedModel

from core.api.project.manifest import Manifest
from core.host.project import Project, load
from core.learning.data import training_samples
from core.learning.model import build_model
from core.learning.optimizers import optimizer_factory
from core.learning.order import Order, Piece, Samples, compute_again
from core.learning.tasks import task_for
from core.swarm.build import COMPRESSIONS
from core.swarm.dht.work_records import packed, work_of
from core.swarm.trust.validation import Facts, evidence_of, tolerance_of
from core.trainer.microbatch import Microbatches

_PIECES, _WARM, _PART = 6, 4, 1 << 17
_GROUP = 4

Result = TypeVar("Result")


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    project = load(folder / "project.toml")
    with tempfile.TemporaryDirectory(prefix="hive") as place:
        manifest = project.manifest(Path(place), ())
    model = build_model(manifest)
    model.train()
    order = order_of(project, manifest, model)
    optimizer = optimizer_factory(manifest.training.optimizer)(model.parameters())
    microbatches = Microbatches(order, model, torch.device("cpu"))
    before = [parameter.detach().clone() for parameter in model.parameters()]
    for epoch in range(_WARM):
        before = [parameter.detach().clone() for parameter in model.parameters()]
        brought(model, microbatches, epoch)
        optimizer.step()
    (pieces, vector), seconds = timed(lambda: brought(model, microbatches, _WARM))
    again, seconds_again = timed(lambda: compute_again(order, model, pieces, lambda _epoch: None))
    size = len(vector)
    print(f"{size:,} parameters, {sum(piece.count for piece in pieces)} samples")
    print(f"tolerance {tolerance_of(manifest.averaging.compression)}")
    for name in ("none", "float16", "uniform8bit"):
        kind = COMPRESSIONS[name]
        parts = [
            deserialize_torch_tensor(serialize_torch_tensor(part, kind().compression_type))
            for part in vector.split(_PART)
        ]
        report(name, torch.cat([part.flatten().float() for part in parts]), again)
    torch.set_num_threads(2)
    report("two threads against one", vector, compute_again(order, model, pieces, lambda _epoch: None))
    torch.set_num_threads(1)
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), before, strict=True):
            parameter.copy_(value)
    report("parameters of the epoch before", vector, compute_again(order, model, pieces, lambda _epoch: None))
    other = Order(order.task, order.samples, order.size, order.run_id, b"other")
    report("other samples", vector, compute_again(other, model, pieces, lambda _epoch: None))
    share = vector[: size // _GROUP]
    _, watching = timed(
        lambda: evidence_of(Facts("", b"", 0, 1.0, 0, len(share)), share.to(torch.bfloat16).split(_PART))
    )
    _, beginning = timed(lambda: Samples(order).take(_WARM, order.size))
    record = len(packed([work_of(epoch, pieces, order.size) for epoch in range(4)]))
    print(
        f"processor time: computing {seconds:.2f} s, again {seconds_again:.2f} s, an epoch's first {beginning:.4f} s,"
    )
    print(f"sums of a fourth of the vector {watching:.4f} s; the record of four rounds takes {record} bytes")


def brought(model: PreTrainedModel, microbatches: Microbatches, epoch: int) -> tuple[list[Piece], torch.Tensor]:
    model.zero_grad()
    pieces = [microbatches.compute(epoch, 0).piece for _ in range(_PIECES)]
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    return pieces, torch.cat([gradient.flatten() for gradient in gradients]) / _PIECES


def order_of(project: Project, manifest: Manifest, model: PreTrainedModel) -> Order:
    paths = {file.sha256: file.path for file in project.files.values()}
    task = task_for(manifest, model.config, paths[manifest.tokenizer.sha256] if manifest.tokenizer else None)
    samples = partial(training_samples, manifest.data, [paths[shard.sha256] for shard in manifest.data.shards])
    return Order(task, samples, manifest.training.microbatch_size, manifest.run_id, b"peer")


def report(what: str, sent: torch.Tensor, again: torch.Tensor) -> None:
    evidence = evidence_of(Facts("", b"", 0, 1.0, 0, len(sent)), sent.to(torch.bfloat16).split(_PART))
    if evidence is not None:
        print(f"{what:32} {evidence.deviation(again):10.2g}", flush=True)


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    began = time.process_time()
    return work(), time.process_time() - began


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("resources/practice"))
