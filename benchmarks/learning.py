"""How a project's model learns: one process takes the steps of a run, and evaluates as the backbone does.

    .venv/bin/python -m benchmarks.learning resources/projects/next-token --epochs 40 --every 10 --seeds 3

A seed decides the initial parameters and the order of the data. The figure is the task's own, on the held-out data.
"""

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import torch

from core.api.project.manifest import Manifest
from core.host.project import Project, load
from core.learning.data import source_for
from core.learning.data.source import once, stream
from core.learning.model import build_model, count_parameters
from core.learning.optimizers import optimizer_factory, scheduler_factory
from core.learning.tasks import task_for
from core.learning.tasks.task import Evaluation


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path, help="folder of a project.toml")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--every", type=int, default=10, help="epochs between two evaluations")
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    project = load(chosen.project / "project.toml")
    with tempfile.TemporaryDirectory(prefix="hive") as folder:
        manifest = project.manifest(Path(folder), ())
    curves = [dict(learn(project, manifest, seed, chosen.epochs, chosen.every)) for seed in range(chosen.seeds)]
    for epoch in curves[0]:
        report(epoch, [curve[epoch] for curve in curves])


def learn(project: Project, manifest: Manifest, seed: int, epochs: int, every: int) -> Iterator[tuple[int, Evaluation]]:
    """(epoch, evaluation) of one run that begins from this seed."""
    training = msgspec.structs.replace(manifest.training, seed=seed)
    model = build_model(msgspec.structs.replace(manifest, training=training))
    paths = {file.sha256: file.path for file in project.files.values()}
    tokenizer, held_out = manifest.tokenizer, manifest.data.held_out
    task = task_for(manifest, model.config, paths[tokenizer.sha256] if tokenizer else None)
    source = source_for(manifest.data)
    if held_out is None:
        raise SystemExit("The project has nothing to evaluate on.")
    samples = stream(source, [paths[shard.sha256] for shard in manifest.data.shards], seed)
    batches = task.batches(samples, training.microbatch_size, seed)
    optimizer = optimizer_factory(training.optimizer)(model.parameters())
    scheduler = scheduler_factory(training.schedule)(optimizer)
    steps = training.target_batch_size // training.microbatch_size
    print(f"seed {seed}: {count_parameters(model):,} parameters", flush=True)
    model.train()
    for epoch in range(epochs + 1):
        if epoch % every == 0:
            yield epoch, task.evaluate(model, once(source, paths[held_out.sha256]))
        for _ in range(steps):
            (task.loss(model, next(batches)) / steps).backward()
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()


def report(epoch: int, found: list[Evaluation]) -> None:
    losses, figures = [each.loss for each in found], [each.figure.value for each in found]
    print(
        f"epoch {epoch:4}: loss {statistics.median(losses):.3f} ({min(losses):.3f} to {max(losses):.3f}), "
        f"{found[0].figure.kind} {statistics.median(figures):.4g} ({min(figures):.4g} to {max(figures):.4g})"
    )


if __name__ == "__main__":
    main()
