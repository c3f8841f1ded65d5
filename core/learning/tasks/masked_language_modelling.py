"""Masked language modelling (Devlin et al. 2018): predict masked tokens of a text from those around them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self, cast

import torch
from tokenizers import Tokenizer
from transformers.configuration_utils import PretrainedConfig
from transformers.models.auto import modeling_auto

from core.api.project import manifest as declared
from core.api.project.manifest import Manifest
from core.api.project.projects import Figure
from core.learning.tasks import text
from core.learning.tasks.task import Batch, Evaluation

_IGNORED = -100
"""torch's cross entropy ignores labels with this value."""


@dataclass(frozen=True)
class MaskedLanguageModellingTask:
    """Sequences are `[CLS] tokens [SEP]` of exactly `sequence_length`; texts are packed one after the other."""

    architectures: ClassVar[Mapping[str, str]] = {
        name: kind for kind, name in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES.items()
    }

    tokenizer: Tokenizer
    sequence_length: int
    mask_probability: float
    start: int
    end: int
    mask: int
    special: frozenset[int]
    vocabulary: int

    @classmethod
    def example(cls, task: declared.MaskedLanguageModelling, config: PretrainedConfig) -> Batch:
        sample = text.token_sample(task, config)
        return {"input_ids": sample, "labels": sample}

    @classmethod
    def from_manifest(cls, manifest: Manifest, config: PretrainedConfig, tokenizer: Path | None) -> Self:
        task = cast("declared.MaskedLanguageModelling", manifest.task)
        loaded = text.load_tokenizer(tokenizer, config)
        start, end, mask = (text.token_id(loaded, name, "$.tokenizer") for name in ("[CLS]", "[SEP]", "[MASK]"))
        return cls(
            tokenizer=loaded,
            sequence_length=task.sequence_length,
            mask_probability=task.mask_probability,
            start=start,
            end=end,
            mask=mask,
            special=frozenset(n for n, token in loaded.get_added_tokens_decoder().items() if token.special),
            vocabulary=loaded.get_vocab_size(),
        )

    def batches(self, samples: Iterable[str], size: int, seed: int) -> Iterator[Batch]:
        generator = torch.Generator().manual_seed(seed)
        rows = text.packed(self.tokenizer, samples, self.sequence_length - 2)
        for tokens in text.in_batches(([self.start, *row, self.end] for row in rows), size):
            yield self._mask(tokens, generator)

    def loss(self, model: torch.nn.Module, batch: Batch) -> torch.Tensor:
        loss: torch.Tensor = model(**batch).loss
        return loss

    def evaluate(self, model: torch.nn.Module, samples: Iterable[str]) -> Evaluation:
        """The figure is the share of masked tokens that the model predicts correctly."""
        loss, right, asked = 0.0, 0, 0
        with text.evaluating(model) as device:
            for batch in text.evaluation_batches(self, samples, device):
                made, labels = model(**batch), batch["labels"]
                count = int((labels != _IGNORED).sum())
                loss += float(made.loss) * count
                right += int((made.logits.argmax(-1) == labels).sum())
                asked += count
        share = 1 / asked if asked else float("nan")
        return Evaluation(loss * share, Figure("masked_accuracy", right * share))

    def _mask(self, tokens: torch.Tensor, generator: torch.Generator) -> Batch:
        """Choose tokens to predict; of these 80 % are masked, 10 % replaced at random, 10 % unchanged."""
        chosen = torch.rand(tokens.shape, generator=generator) < self.mask_probability
        for number in self.special:
            chosen &= tokens != number
        kind = torch.rand(tokens.shape, generator=generator)
        random_tokens = torch.randint(self.vocabulary, tokens.shape, generator=generator)
        inputs = torch.where(chosen & (kind < 0.8), torch.full_like(tokens, self.mask), tokens)
        inputs = torch.where(chosen & (kind >= 0.9), random_tokens, inputs)
        return {"input_ids": inputs, "labels": torch.where(chosen, tokens, torch.full_like(tokens, _IGNORED))}
