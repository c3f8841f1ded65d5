"""SwAV (Caron et al. 2020): learn from pictures without labels, by assigning views of a picture to the same prototypes.

Assignments are made by Sinkhorn and Knopp's algorithm among the samples of a microbatch and those of a queue. The queue
belongs to one process, as in the paper's runs with small batches: peers neither send it nor agree on it. A peer begins
with an empty one, and uses it when it is full.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import torch
from transformers.configuration_utils import PretrainedConfig

from core.api.project import tasks as declared
from core.api.project.manifest import Manifest
from core.api.project.projects import Figure
from core.learning.data.image_tar import Picture
from core.learning.tasks import text
from core.learning.tasks.crops import MultiCrop, coloured
from core.learning.tasks.demonstrations import nearest
from core.learning.tasks.task import Batch, Evaluation

_EVALUATION_SEED = 0
_EVALUATION_BATCH = 64
_EVALUATION_PICTURES = 512
_RIDGE = 1.0
"""Regularisation of the linear probe, of standardised features."""


@dataclass
class Queue:
    """The newest embeddings of both large views, (2, length, size) when full; oldest first."""

    length: int
    rows: torch.Tensor | None = None
    _before: torch.Tensor | None = None
    """Without those that were added last."""
    _first: torch.Tensor | None = None
    """The first picture of these."""

    def begin(self, views: torch.Tensor) -> None:
        """Of a microbatch. If it begins like the last one, that one was given up, perhaps in the backward pass."""
        if self._first is not None and torch.equal(self._first, views[0]):
            self.rows = self._before
        self._before, self._first = self.rows, views[0].clone()

    @property
    def full(self) -> bool:
        return self.rows is not None and self.rows.shape[1] >= self.length > 0

    def add(self, embeddings: torch.Tensor) -> None:
        new = embeddings.detach()
        rows = new if self.rows is None else torch.cat((self.rows, new), 1)
        self.rows = rows[:, max(0, rows.shape[1] - self.length) :]


@dataclass(frozen=True)
class SwavTask:
    """Samples are pictures; a batch has their views."""

    architectures: ClassVar[Mapping[str, str]] = {"SwavResNet": "core.learning.swav_resnet"}
    least_samples: ClassVar[int] = 16

    settings: declared.Swav
    crops: MultiCrop
    queue: Queue = field(compare=False)

    @classmethod
    def example(cls, task: declared.Swav, config: PretrainedConfig) -> Batch:
        del config  # pictures of any size
        # Two: statistics of a batch need more than one value.
        large = torch.zeros(2, 2, 3, task.large_crop, task.large_crop)
        return {"large": large, "small": torch.zeros(2, task.small_crops, 3, task.small_crop, task.small_crop)}

    @classmethod
    def from_manifest(cls, manifest: Manifest, config: PretrainedConfig, tokenizer: Path | None) -> Self:
        del config, tokenizer
        task = cast("declared.Swav", manifest.task)
        crops = MultiCrop(task.large_crop, task.small_crop, task.small_crops, task.large_share, task.small_share)
        return cls(task, crops, Queue(task.queue_length))

    def batches(self, samples: Iterable[Picture], size: int, seed: int) -> Iterator[Batch]:
        generator = torch.Generator().manual_seed(seed)
        decoded = (pixels for sample in samples if (pixels := sample.decoded()) is not None)
        while True:
            large, small = self.crops.views(islice(decoded, size), generator)
            if not len(large):
                return
            yield {"large": large, "small": small}

    def loss(self, model: Any, batch: Batch, epoch: int = 0) -> torch.Tensor:
        if self.queue.length:
            self.queue.begin(batch["large"])
        embeddings = model(**batch)
        loss = self._loss(model, embeddings, epoch, use_queue=epoch >= self.settings.queue_from_epoch)
        if self.queue.length:
            self.queue.add(embeddings[:2])
        return loss

    def evaluate(self, model: Any, samples: Iterable[Picture]) -> Evaluation:
        """The figure is the accuracy of a linear classifier of the frozen features, on pictures new to it."""
        pictures = list(islice(samples, _EVALUATION_PICTURES))
        with text.evaluating(model) as device:
            losses = [
                float(self._loss(model, model(**moved(batch, device)), self.settings.freeze_prototypes))
                for batch in self.batches(pictures, _EVALUATION_BATCH, _EVALUATION_SEED)
            ]
            plain, features, labels = self._features(model, pictures, device)
        known = labels >= 0
        figure = Figure("probe_accuracy", probe(features[known], labels[known]))
        shown = nearest(coloured(plain), features)
        return Evaluation(text.mean(sum(losses), len(losses)), figure, demonstration=shown)

    def _loss(self, model: Any, embeddings: torch.Tensor, epoch: int, use_queue: bool = False) -> torch.Tensor:
        """The mean cross entropy between each large view's assignment and every other view's prediction."""
        scores = model.scores(embeddings, epoch < self.settings.freeze_prototypes)
        predictions = (scores / self.settings.temperature).log_softmax(-1)
        losses = []
        for view in range(2):
            assignment = self._assignment(model, scores[view].detach(), view, use_queue)
            others = [prediction for index, prediction in enumerate(predictions) if index != view]
            losses.append(-sum((assignment * other).sum(-1).mean() for other in others) / len(others))
        return sum(losses, start=torch.zeros((), device=scores.device)) / 2

    @torch.no_grad()
    def _assignment(self, model: Any, scores: torch.Tensor, view: int, use_queue: bool) -> torch.Tensor:
        samples = len(scores)
        if use_queue and self.queue.full and self.queue.rows is not None:
            scores = torch.cat((scores, model.scores(self.queue.rows[view], frozen=True)))
        return sinkhorn(scores, self.settings.epsilon, self.settings.iterations)[:samples]

    def _features(
        self, model: Any, pictures: list[Picture], device: torch.device
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Pictures as the network sees them, their features, and their labels; -1: none."""
        rows = [
            (self.crops.plain(pixels), -1 if picture.label is None else picture.label)
            for picture in pictures
            if (pixels := picture.decoded()) is not None
        ]
        if len(rows) < 2:
            return torch.zeros(0, 3, 1, 1), torch.zeros(0, 1), torch.zeros(0, dtype=torch.long)
        plain = torch.stack([pixels for pixels, _ in rows])
        # Batch normalisation needs two: the last one may be left over.
        chunks = [chunk for chunk in plain.split(_EVALUATION_BATCH) if len(chunk) > 1]
        features = torch.cat([model.features(chunk.to(device)).cpu() for chunk in chunks])
        return plain[: len(features)], features, torch.tensor([label for _, label in rows])[: len(features)]


def sinkhorn(scores: torch.Tensor, epsilon: float, iterations: int) -> torch.Tensor:
    """Assignments of samples to prototypes, (samples, prototypes): rows sum to 1, and all prototypes get about as much.

    Source: Cuturi 2013; algorithm 1 of Caron et al. 2020.
    """
    shares = torch.exp((scores - scores.max()) / epsilon)
    for _ in range(iterations):
        shares = shares / shares.sum(0, keepdim=True).clamp_min(1e-30)
        shares = shares / shares.sum(1, keepdim=True).clamp_min(1e-30)
    return shares


def probe(features: torch.Tensor, labels: torch.Tensor) -> float:
    """Accuracy of ridge regression on one-hot labels, fitted to every other sample, on the others; NaN without any."""
    if len(labels) < 2:
        return float("nan")
    features = features.double()
    features = (features - features.mean(0)) / (features.std(0) + 1e-6)
    features = torch.cat((features, torch.ones(len(features), 1).double()), 1)
    seen, asked = features[::2], features[1::2]
    targets = torch.nn.functional.one_hot(labels[::2], int(labels.max()) + 1).double()
    weights = torch.linalg.solve(seen.T @ seen + _RIDGE * torch.eye(seen.shape[1]).double(), seen.T @ targets)
    return float(((asked @ weights).argmax(1) == labels[1::2]).double().mean())


def moved(batch: Batch, device: torch.device) -> Batch:
    return {name: value.to(device) for name, value in batch.items()}
