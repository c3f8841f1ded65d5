"""How a project's model learns: one process takes the steps of a run, and evaluates as the backbone does.

    .venv/bin/python -m benchmarks.learning resources/projects/next-token --epochs 40 --every 10 --seeds 3

A seed decides the initial parameters and the order of the data. The figure is the task's own, on the held-out data.
With --peers, the batch is that of so many honest peers of different speeds, whose gradients CenteredClip averages part
by part: the samples are the same as without it.

With --shuffle NAME, this part of each batch (such as `captions`) is given to other samples than its own, so a model
learns to do without it; it is evaluated with the right ones.
"""

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import msgspec
import torch

from core.api.project.manifest import Manifest
from core.api.project.projects import Figure
from core.host.project import Project, load
from core.learning.data import held_out_samples, training_samples
from core.learning.model import build_model, count_parameters
from core.learning.optimizers import optimizer_factory, scheduler_factory
from core.learning.tasks import task_for
from core.learning.tasks.task import Batch, Evaluation
from core.swarm.all_reduce.bandwidth import part_size
from core.swarm.trust.centered_clip import centered_clip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path, help="folder of a project.toml")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--every", type=int, default=10, help="epochs between two evaluations")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--peers", type=int, default=0, help="who average with CenteredClip; 0: one process")
    parser.add_argument(
        "--shuffle", default="", help="a part of the batches that belongs to other samples; empty: none"
    )
    parser.add_argument("--picture", type=Path, help="where to write the last picture that shows what was learned")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    project = load(chosen.project / "project.toml")
    with tempfile.TemporaryDirectory(prefix="hive") as folder:
        manifest = project.manifest(Path(folder), ())
    curves = [
        dict(learn(project, manifest, seed, chosen.epochs, chosen.every, peers=chosen.peers, shuffle=chosen.shuffle))
        for seed in range(chosen.seeds)
    ]
    for epoch in curves[0]:
        report(epoch, [curve[epoch] for curve in curves])
    shown = next(reversed(curves[-1].values())).demonstration
    if chosen.picture and shown and shown.picture:
        print("".join(span.text for span in shown.spans))
        chosen.picture.write_bytes(shown.picture)


def learn(
    project: Project, manifest: Manifest, seed: int, epochs: int, every: int, *, peers: int, shuffle: str
) -> Iterator[tuple[int, Evaluation]]:
    """(epoch, evaluation) of one run that begins from this seed."""
    training = msgspec.structs.replace(manifest.training, seed=seed)
    model = build_model(msgspec.structs.replace(manifest, training=training))
    tokenizer = project.path_of(manifest.tokenizer) if manifest.tokenizer else None
    task = task_for(manifest, model.config, tokenizer)
    held_out = held_out_samples(manifest.data, project.path_of)
    if held_out is None:
        raise SystemExit("The project has nothing to evaluate on.")
    samples = training_samples(manifest.data, [project.path_of(shard) for shard in manifest.data.shards], seed)
    batches = shuffled(task.batches(samples, training.microbatch_size, seed), shuffle)
    optimizer = optimizer_factory(training.optimizer)(model.parameters())
    scheduler = scheduler_factory(training.schedule)(optimizer)
    steps = training.target_batch_size // training.microbatch_size
    print(f"seed {seed}: {count_parameters(model):,} parameters", flush=True)
    model.train()
    for epoch in range(epochs + 1):
        if epoch % every == 0:
            found = task.evaluate(model, held_out())
            print(f"seed {seed}, epoch {epoch}: loss {found.loss:.3f}, {found.figure.value:.4g}", flush=True)
            yield epoch, found
        gradients, turns = list[torch.Tensor](), turns_of(steps, peers or 1)
        for turn in turns:
            for _ in range(turn):
                (task.loss(model, next(batches), epoch) / (turn if peers else steps)).backward()
            if peers:
                gradients.append(torch.nn.utils.parameters_to_vector(gradients_of(model)))
                optimizer.zero_grad()
        if peers:
            average(model, gradients, turns, part_size(count_parameters(model), manifest.averaging) // 2)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()


def shuffled(batches: Iterator[Batch], name: str) -> Iterator[Batch]:
    """Each sample gets another one's part of this name."""
    for batch in batches:
        yield {**batch, name: batch[name].roll(1, 0)} if name else batch


def gradients_of(model: torch.nn.Module) -> Iterator[torch.Tensor]:
    for parameter in model.parameters():
        yield torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


def turns_of(microbatches: int, peers: int) -> list[int]:
    """How many microbatches each peer has: the fastest one three times as many as the slowest."""
    speeds = [1 + 2 * peer / max(1, peers - 1) for peer in range(peers)]
    ends = [round(microbatches * end / sum(speeds)) for end in accumulate(speeds)]
    return [end - begin for begin, end in zip([0, *ends], ends, strict=False)]


def average(model: torch.nn.Module, gradients: list[torch.Tensor], weights: list[int], part: int) -> None:
    """Give the model the centre of the gradients, of so many numbers at a time."""
    parts = zip(*(gradient.split(part) for gradient in gradients), strict=True)
    centre = torch.cat([centered_clip(pieces, weights) for pieces in parts])
    for parameter, piece in zip(
        model.parameters(), centre.split([parameter.numel() for parameter in model.parameters()]), strict=True
    ):
        parameter.grad = piece.view_as(parameter).clone()


def report(epoch: int, found: list[Evaluation]) -> None:
    measured = [[Figure("loss", each.loss), each.figure, *each.others] for each in found]
    columns = ([figure.value for figure in column] for column in zip(*measured, strict=True))
    texts = [
        f"{figure.kind} {statistics.median(values):.4g} ({min(values):.4g} to {max(values):.4g})"
        for figure, values in zip(measured[0], columns, strict=True)
    ]
    print(f"epoch {epoch:4}: {', '.join(texts)}", flush=True)


if __name__ == "__main__":
    main()
