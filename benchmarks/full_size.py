"""One step of a published project at its full size on this machine: parameters, memory and time.

    .venv/bin/python -m benchmarks.full_size resources/projects/sahajbert

A microbatch of the manifest's size and shape, without contents (all zeros, which cost the same), forward and backward,
then the optimizer's step. Files that an organiser has to bring are not needed. Memory is the largest
resident size of the process.

With --layers, the model has only so many: what a layer takes, where all of them do not fit.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from msgspec.structs import replace

from core.api.project.manifest import Manifest
from core.api.project.tasks import Swav
from core.learning.flops import counting
from core.learning.model import build_model, count_parameters
from core.learning.optimizers import optimizer_factory
from core.learning.tasks import TASKS
from core.learning.tasks.swav import SwavTask
from core.learning.tasks.task import Batch
from tests.host.published_projects import complete


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path, help="folder of a project.toml in resources/projects")
    parser.add_argument("--layers", type=int, help="of the model; without it all of them")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="hive") as folder:
        manifest = complete(chosen.project.name, Path(folder)).manifest(Path(folder), ())
    if chosen.layers:
        shorter = {**manifest.model.config, "num_hidden_layers": chosen.layers}
        manifest = replace(manifest, model=replace(manifest.model, config=shorter))
    model = build_model(manifest)
    size, kind = manifest.training.microbatch_size, TASKS[type(manifest.task)]
    batch = {
        name: value[:1].repeat(size, *(1,) * (value.dim() - 1))
        for name, value in kind.example(manifest.task, model.config).items()
    }
    print(f"{chosen.project.name}: {count_parameters(model):,} parameters, {memory():.2f} GB when built", flush=True)
    optimizer = optimizer_factory(manifest.training.optimizer)(model.parameters())
    model.train()
    begin = time.perf_counter()
    with counting() as flops:
        loss_of(manifest, model, batch).backward()
    computed = time.perf_counter()
    print(f"microbatch of {size}: {computed - begin:.1f} s, {flops() / 1e12:.2f} TFLOP, {memory():.2f} GB", flush=True)
    optimizer.step()
    print(f"optimizer: {time.perf_counter() - computed:.1f} s, {memory():.2f} GB")
    share = manifest.training.target_batch_size / size
    print(f"an epoch of {manifest.training.target_batch_size} samples: {share * (computed - begin) / 3600:.1f} h here")


def loss_of(manifest: Manifest, model: Any, batch: Batch) -> torch.Tensor:
    """As the task computes it, without a tokenizer."""
    if isinstance(manifest.task, Swav):
        return SwavTask.from_manifest(manifest, model.config, None).loss(model, batch)
    loss: torch.Tensor = model(**batch).loss
    return loss


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


if __name__ == "__main__":
    main()
