"""Learning tasks, one a file. A task turns text into batches, a batch into a loss, and held-out text into a figure."""

from collections.abc import Iterable, Iterator
from typing import Protocol

import torch

from core.api.project.manifest import Manifest

Batch = dict[str, torch.Tensor]


class Task(Protocol):
    """What a trainer and a backbone need of any task."""

    def batches(self, texts: Iterable[str], size: int, seed: int) -> Iterator[Batch]:
        """Endless training batches of `size` samples from an endless stream of texts; random choices follow `seed`."""

    def loss(self, model: torch.nn.Module, batch: Batch) -> torch.Tensor:
        """The mean loss over the batch, a scalar."""

    def evaluate(self, model: torch.nn.Module, text: str) -> float:
        """The mean loss over held-out text, with the same random choices every time."""


def task_for(manifest: Manifest, tokenizer_file: str) -> Task:
    """The task that the manifest names.

    Raises:
        ManifestError: the tokenizer does not fit the task or the model.
    """
    from core.learning.tasks.masked_language_modelling import MaskedLanguageModellingTask

    return MaskedLanguageModellingTask.from_manifest(manifest, tokenizer_file)
