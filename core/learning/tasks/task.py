"""What a trainer and a backbone need of a task."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import torch
from transformers import PretrainedConfig

from core.api.project.manifest import Manifest
from core.api.project.projects import Figure

Batch = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Evaluation:
    """What a model reaches on held-out data."""

    loss: float
    figure: Figure
    """The measure by which models of this task are usually compared."""


class Task(Protocol):
    architectures: ClassVar[frozenset[str]]
    """Names of the transformers classes that can learn it."""

    @classmethod
    def example(cls, declared: Any, config: PretrainedConfig) -> Batch:
        """A batch of one sample as the manifest declares it, to try the model with.

        Raises:
            ManifestError: the configuration has no room for such a sample.
        """

    @classmethod
    def from_manifest(cls, manifest: Manifest, config: PretrainedConfig, tokenizer: Path | None) -> Self:
        """The task with what it has to read; `tokenizer` is the local copy of the manifest's.

        Raises:
            ManifestError: the files do not fit the task or the model.
        """

    def batches(self, samples: Iterable[Any], size: int, seed: int) -> Iterator[Batch]:
        """Training batches of `size` samples from a stream of the data's samples; random choices follow `seed`."""

    def loss(self, model: torch.nn.Module, batch: Batch) -> torch.Tensor:
        """The mean loss over the batch, a scalar."""

    def evaluate(self, model: torch.nn.Module, samples: Iterable[Any]) -> Evaluation:
        """What the model reaches on held-out samples, with the same random choices every time."""
