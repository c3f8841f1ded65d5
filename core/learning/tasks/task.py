"""The interface of a task for trainer and backbone."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import torch
from transformers.configuration_utils import PretrainedConfig

from core.api.project.demonstration import Demonstration
from core.api.project.manifest import Manifest
from core.api.project.projects import Figure

Batch = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Evaluation:
    """A model's results on held-out data."""

    loss: float
    figure: Figure
    """The usual measure of models for this task."""
    others: tuple[Figure, ...] = ()
    """Further measures, which only logs and benchmarks show."""
    demonstration: Demonstration | None = None
    """What the model makes of a held-out example."""


class Task(Protocol):
    architectures: ClassVar[Mapping[str, str]]
    """Names of the classes that can learn the task, with the type of model in transformers, or our own module."""

    least_samples: ClassVar[int]
    """Samples below which a microbatch teaches nothing; more than 1 where samples are compared with each other."""

    @classmethod
    def example(cls, declared: Any, config: PretrainedConfig) -> Batch:
        """A batch of one sample as the manifest declares it, to test the model.

        Raises:
            ManifestError: such a sample does not fit the configuration.
        """

    @classmethod
    def from_manifest(cls, manifest: Manifest, config: PretrainedConfig, tokenizer: Path | None) -> Self:
        """The task; `tokenizer` is the local copy of the manifest's.

        Raises:
            ManifestError: the files do not fit the task or the model.
        """

    def batches(self, samples: Iterable[Any], size: int, seed: int) -> Iterator[Batch]:
        """Training batches of `size` samples from a stream of the data's samples; random choices follow `seed`."""

    def loss(self, model: torch.nn.Module, batch: Batch, epoch: int = 0) -> torch.Tensor:
        """The mean loss over the batch, a scalar; some objectives differ from epoch to epoch."""

    def evaluate(self, model: torch.nn.Module, samples: Iterable[Any]) -> Evaluation:
        """The model's results on held-out samples, with the same random choices every time."""


class ModelLoss:
    """Of tasks whose loss the model computes itself, in every epoch the same."""

    def loss(self, model: torch.nn.Module, batch: Batch, epoch: int = 0) -> torch.Tensor:
        del epoch
        loss: torch.Tensor = model(**batch).loss
        return loss
