"""A process that computes microbatches under a limit of memory, and says how many samples and bytes each took.

Its arguments are the limit, in bytes above what the process holds before the first one (0: none), and the words of a
sample.
"""

import json
import sys
from collections.abc import Iterator

import psutil
import torch

from core.learning.model import build_model
from core.learning.order import Order
from core.learning.tasks.task import Batch
from core.system import freed_memory, resident_peak
from core.trainer.machine.memory_guard import MemoryGuard, Room
from core.trainer.microbatch import Microbatches
from tests.learning.small_project import small_manifest

SIZES = {"hidden_size": 256, "num_hidden_layers": 6, "intermediate_size": 1024, "num_attention_heads": 4}


class Random:
    """Masked language modelling of random words."""

    least_samples = 1

    def __init__(self, length: int) -> None:
        self._length = length

    def batches(self, *_: object) -> Iterator[Batch]:
        while True:
            words = torch.randint(0, 100, (16, self._length))
            yield {"input_ids": words, "labels": words}

    def loss(self, model: torch.nn.Module, batch: Batch, _epoch: int) -> torch.Tensor:
        loss: torch.Tensor = model(**batch).loss
        return loss


def held() -> int:
    return int(psutil.Process().memory_info().rss)


def main() -> None:
    torch.set_num_threads(1)
    above, length = map(int, sys.argv[1:])
    model = build_model(small_manifest(length, **SIZES))
    model.train()
    order = Order(Random(length), lambda _seed, _portion: (), 16, "run", b"peer")  # type: ignore[arg-type]  # only what is used
    # Libraries load what they need in the first pass.
    Microbatches(order, model, torch.device("cpu")).compute(0, 1)
    model.zero_grad()
    freed_memory.give_back()
    limit = held() + above
    room = Room(MemoryGuard(held=held), lambda: limit) if above else None
    work = Microbatches(order, model, torch.device("cpu"), room=room)
    for _ in range(4):
        freed_memory.give_back()
        before = held()
        resident_peak.begin()
        done = work.compute(0, 0)
        most = resident_peak.peak()
        model.zero_grad()
        print(json.dumps({"samples": done.samples, "taken": most - before, "over": most - limit}), flush=True)


if __name__ == "__main__":
    main()
