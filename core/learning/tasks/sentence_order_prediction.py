"""Sentence order prediction beside masked tokens, ALBERT's objective (Lan et al. 2020).

A sample has two segments of one text, `[CLS] A [SEP] B [SEP]`, swapped in half of the samples. The model predicts the
masked tokens, and whether the segments are swapped. The loss is the sum of both cross entropies.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from random import Random
from typing import ClassVar, Self, cast

import torch
from tokenizers import Tokenizer
from transformers.configuration_utils import PretrainedConfig

from core.api.errors import WorldError
from core.api.project import tasks as declared
from core.api.project.manifest import Manifest
from core.api.project.projects import Figure
from core.learning.tasks import text
from core.learning.tasks.demonstrations import filled
from core.learning.tasks.masking import MaskedAccuracy, Masking
from core.learning.tasks.task import Batch, Evaluation, ModelLoss

_SENTENCE = re.compile(r"[^\n]+?(?:[.!?…।॥。！？]+[\"'”’)»]*(?=\s|$)|\n|$)")
"""Up to the end of a line, or to a full stop with a space after it; the danda (।) is that of Bengali and Hindi."""
_PADDING = "[PAD]"
_MOST_WITHOUT = 10_000
"""Texts one after the other that have a single sentence; samples of such data would be waited for without end."""

Pair = tuple[list[int], list[int], bool]
"""Tokens of the first and of the second segment, and whether they are swapped."""


@dataclass(frozen=True)
class SentenceOrderPredictionTask(ModelLoss):
    """Sequences have `sequence_length` tokens, with padding after the second segment."""

    architectures: ClassVar[Mapping[str, str]] = {"AlbertForPreTraining": "albert"}
    least_samples: ClassVar[int] = 1

    tokenizer: Tokenizer
    sequence_length: int
    masking: Masking
    padding: int

    @classmethod
    def example(cls, task: declared.SentenceOrderPrediction, config: PretrainedConfig) -> Batch:
        sample = text.token_sample(task, config)
        return {
            "input_ids": sample,
            "labels": sample,
            "attention_mask": torch.ones_like(sample),
            "token_type_ids": sample,
            "sentence_order_label": torch.zeros(1, dtype=torch.long),
        }

    @classmethod
    def from_manifest(cls, manifest: Manifest, config: PretrainedConfig, tokenizer: Path | None) -> Self:
        task = cast("declared.SentenceOrderPrediction", manifest.task)
        loaded = text.load_tokenizer(tokenizer, config)
        masking = Masking.of(loaded, task.mask_probability)
        return cls(loaded, task.sequence_length, masking, text.token_id(loaded, _PADDING, "$.tokenizer"))

    def batches(self, samples: Iterable[str], size: int, seed: int) -> Iterator[Batch]:
        chance, generator = Random(seed), torch.Generator().manual_seed(seed)
        for rows in text.chunks((self._row(*pair) for pair in self._all_pairs(samples, chance)), size):
            tokens, types, order = (torch.tensor(column) for column in zip(*rows, strict=True))
            yield {
                **self.masking.masked(tokens, generator),
                "attention_mask": (tokens != self.padding).long(),
                "token_type_ids": types,
                "sentence_order_label": order,
            }

    def evaluate(self, model: torch.nn.Module, samples: Iterable[str]) -> Evaluation:
        """The figure is the share of masked tokens that the model predicts correctly, without the sentence order."""
        loss, right, rows, accuracy, shown = 0.0, 0, 0, MaskedAccuracy(), None
        with text.evaluating(model) as device:
            for batch in text.evaluation_batches(self, samples, device):
                made, order = model(**batch), batch["sentence_order_label"]
                accuracy.add(made.prediction_logits, batch["labels"])
                loss += float(made.loss) * len(order)
                right += int((made.sop_logits.argmax(-1) == order).sum())
                rows += len(order)
                tokens, labels = batch["input_ids"][0], batch["labels"][0]
                shown = shown or filled(self.tokenizer, labels, tokens, made.prediction_logits[0])
        in_order = Figure("sentence_order_accuracy", text.mean(right, rows))
        return Evaluation(text.mean(loss, rows), Figure("masked_accuracy", accuracy.share), (in_order,), shown)

    def _all_pairs(self, samples: Iterable[str], chance: Random) -> Iterator[Pair]:
        without = 0
        for sample in samples:
            pairs = list(self._pairs(sample, chance))
            yield from pairs
            without = 0 if pairs else without + 1
            if without == _MOST_WITHOUT:
                raise WorldError("data_without_sentences")

    def _pairs(self, sample: str, chance: Random) -> Iterator[Pair]:
        """Consecutive sentences that fill a sequence, divided between two of them; the last ones may be fewer."""
        chunk: list[list[int]] = []
        for sentence in self._sentences(sample):
            chunk.append(sentence)
            if len(chunk) > 1 and sum(map(len, chunk)) >= self._room:
                yield from self._divided(chunk, chance)
                chunk = []
        yield from self._divided(chunk, chance)

    def _sentences(self, sample: str) -> Iterator[list[int]]:
        sentences = [part for part in _SENTENCE.findall(sample) if part.strip()]
        for encoding in self.tokenizer.encode_batch(sentences, add_special_tokens=False):
            if encoding.ids:
                yield encoding.ids

    @property
    def _room(self) -> int:
        return self.sequence_length - 3

    def _divided(self, chunk: list[list[int]], chance: Random) -> Iterator[Pair]:
        if len(chunk) < 2:
            return
        at = chance.randint(1, len(chunk) - 1)
        first, second = (list(chain.from_iterable(part)) for part in (chunk[:at], chunk[at:]))
        swapped = chance.random() < 0.5
        if swapped:
            first, second = second, first
        self._truncate(first, second)
        yield first, second, swapped

    def _truncate(self, first: list[int], second: list[int]) -> None:
        """Shorten the longer one at its end until both fit."""
        surplus = len(first) + len(second) - self._room
        for _ in range(surplus):
            (first if len(first) > len(second) else second).pop()

    def _row(self, first: list[int], second: list[int], swapped: bool) -> tuple[list[int], list[int], int]:
        """Tokens, segment of each token, label."""
        masking = self.masking
        tokens = [masking.start, *first, masking.end, *second, masking.end]
        types = [0] * (len(first) + 2) + [1] * (len(second) + 1)
        missing = self.sequence_length - len(tokens)
        return tokens + [self.padding] * missing, types + [0] * missing, int(swapped)
