"""Computes gradients of others again, in a process of its own at the lowest priority. `core.host.validation` runs it.

It reads a `Setup` and then a `Job` for each line of stdin, answers each job with an `Answer`, and ends with stdin.
"""

import os
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import msgspec
import torch
from safetensors.torch import load_file

from core.api.project.manifest import Manifest
from core.learning.light_imports import loading
from core.learning.order import BadWork, Order, Piece, compute_again
from core.swarm.trust.validation import Evidence
from core.system.priority import PROMPTLY, lower_priority


class Setup(msgspec.Struct, frozen=True):
    """Paths of the organiser's own files."""

    manifest: Manifest
    tokenizer: str | None
    shards: tuple[str, ...]


class Job(msgspec.Struct, frozen=True):
    """What a peer has brought to a round, and what it says that it has computed."""

    evidence: Evidence
    peer: bytes
    pieces: tuple[Piece, ...]
    parameters: Mapping[int, str]
    """By epoch: the path of a file of safetensors."""


class Answer(msgspec.Struct, frozen=True):
    deviation: float
    """See `Evidence.deviation`; infinite if nobody can have computed such pieces."""
    seconds: float


class Recomputer:
    def __init__(self, setup: Setup) -> None:
        with loading():
            from core.learning.data import training_samples
            from core.learning.model import build_model
            from core.learning.tasks import task_for

        manifest = setup.manifest
        self._model = build_model(manifest)
        self._model.train()
        task = task_for(manifest, self._model.config, Path(setup.tokenizer) if setup.tokenizer else None)
        samples = partial(training_samples, manifest.data, [Path(shard) for shard in setup.shards])
        self._order = partial(Order, task, samples, manifest.training.microbatch_size, manifest.run_id)

    def answer(self, job: Job) -> Answer:
        def prepare(epoch: int) -> None:
            values = load_file(job.parameters[epoch])
            with torch.no_grad():
                for number, parameter in enumerate(self._model.parameters()):
                    parameter.copy_(values[str(number)])

        began = time.monotonic()
        try:
            vector = compute_again(self._order(job.peer), self._model, job.pieces, prepare)
            deviation = job.evidence.deviation(vector)
        except BadWork:
            deviation = float("inf")
        return Answer(min(1000000000.0, deviation), time.monotonic() - began)


def main() -> None:
    if PROMPTLY not in sys.argv:
        lower_priority()
    torch.set_num_threads(1)
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    recomputer = Recomputer(msgspec.json.decode(sys.stdin.buffer.readline(), type=Setup))
    for line in iter(sys.stdin.buffer.readline, b""):
        answers.write(msgspec.json.encode(recomputer.answer(msgspec.json.decode(line, type=Job))) + b"\n")


if __name__ == "__main__":
    main()
