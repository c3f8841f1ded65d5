"""Masked language modelling (Devlin et al. 2018): predict masked tokens of a text from those around them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self, cast

import torch
from tokenizers import Tokenizer
from transformers.configuration_utils import PretrainedConfig
from transformers.models.auto import modeling_auto

from core.api.project import tasks as declared
from core.api.project.manifest import Manifest
from core.api.project.projects import Figure
from core.learning.tasks import text
from core.learning.tasks.demonstrations import filled
from core.learning.tasks.masking import MaskedAccuracy, Masking
from core.learning.tasks.task import Batch, Evaluation, ModelLoss


@dataclass(frozen=True)
class MaskedLanguageModellingTask(ModelLoss):
    """Sequences are `[CLS] tokens [SEP]` of exactly `sequence_length`; texts are packed one after the other."""

    architectures: ClassVar[Mapping[str, str]] = {
        name: kind for kind, name in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES.items()
    }

    least_samples: ClassVar[int] = 1

    tokenizer: Tokenizer
    sequence_length: int
    masking: Masking

    @classmethod
    def example(cls, task: declared.MaskedLanguageModelling, config: PretrainedConfig) -> Batch:
        sample = text.token_sample(task, config)
        return {"input_ids": sample, "labels": sample}

    @classmethod
    def from_manifest(cls, manifest: Manifest, config: PretrainedConfig, tokenizer: Path | None) -> Self:
        task = cast("declared.MaskedLanguageModelling", manifest.task)
        loaded = text.load_tokenizer(tokenizer, config)
        return cls(loaded, task.sequence_length, Masking.of(loaded, task.mask_probability))

    def batches(self, samples: Iterable[str], size: int, seed: int) -> Iterator[Batch]:
        generator = torch.Generator().manual_seed(seed)
        rows = text.packed(self.tokenizer, samples, self.sequence_length - 2)
        for tokens in text.in_batches(([self.masking.start, *row, self.masking.end] for row in rows), size):
            yield self.masking.masked(tokens, generator)

    def evaluate(self, model: torch.nn.Module, samples: Iterable[str]) -> Evaluation:
        """The figure is the share of masked tokens that the model predicts correctly."""
        loss, accuracy, shown = 0.0, MaskedAccuracy(), None
        with text.evaluating(model) as device:
            for batch in text.evaluation_batches(self, samples, device):
                made = model(**batch)
                loss += float(made.loss) * accuracy.add(made.logits, batch["labels"])
                shown = shown or filled(self.tokenizer, batch["labels"][0], batch["input_ids"][0], made.logits[0])
        figure = Figure("masked_accuracy", accuracy.share)
        return Evaluation(text.mean(loss, accuracy.asked), figure, demonstration=shown)
