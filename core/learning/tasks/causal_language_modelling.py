"""Causal language modelling (Radford et al. 2019): predict each token of a text from those before it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self, cast

import torch
from tokenizers import Tokenizer
from transformers.configuration_utils import PretrainedConfig

from core.api.project import tasks as declared
from core.api.project.manifest import Manifest
from core.api.project.projects import Figure
from core.learning.tasks import text
from core.learning.tasks.demonstrations import continued
from core.learning.tasks.masking import IGNORED
from core.learning.tasks.task import Batch, Evaluation


@dataclass(frozen=True)
class CausalLanguageModellingTask:
    """Sequences are exactly `sequence_length` tokens of consecutive texts.

    With `boundaries`, the positions of each text begin with 0. By that transformers knows where a text begins, and lets
    no token see those of another one.
    """

    # Not all that transformers lists: some of them see the tokens that they predict.
    architectures: ClassVar[Mapping[str, str]] = {
        "GPT2LMHeadModel": "gpt2",
        "GPTNeoXForCausalLM": "gpt_neox",
        "LlamaForCausalLM": "llama",
        "MistralForCausalLM": "mistral",
        "Qwen2ForCausalLM": "qwen2",
    }

    least_samples: ClassVar[int] = 1

    tokenizer: Tokenizer
    sequence_length: int
    separator: tuple[int, ...]
    boundaries: bool

    @classmethod
    def example(cls, task: declared.CausalLanguageModelling, config: PretrainedConfig) -> Batch:
        tokens = text.token_sample(task, config)
        return _batch(tokens, torch.arange(tokens.shape[1])[None] if task.document_boundaries else None)

    @classmethod
    def from_manifest(cls, manifest: Manifest, config: PretrainedConfig, tokenizer: Path | None) -> Self:
        task = cast("declared.CausalLanguageModelling", manifest.task)
        loaded = text.load_tokenizer(tokenizer, config)
        separator = () if task.separator is None else (text.token_id(loaded, task.separator, "$.task.separator"),)
        return cls(loaded, task.sequence_length, separator, task.document_boundaries)

    def batches(self, samples: Iterable[str], size: int, seed: int) -> Iterator[Batch]:
        del seed  # no random choices
        rows = text.packed_with_positions(self.tokenizer, samples, self.sequence_length, self.separator)
        for chunk in text.chunks(rows, size):
            tokens, places = (torch.tensor(column) for column in zip(*chunk, strict=True))
            yield _batch(tokens, places if self.boundaries else None)

    def loss(self, model: torch.nn.Module, batch: Batch, epoch: int = 0) -> torch.Tensor:
        del epoch  # always the same objective
        # Only generation needs the cache of keys and values.
        loss: torch.Tensor = model(**batch, use_cache=False).loss
        return loss

    def evaluate(self, model: torch.nn.Module, samples: Iterable[str]) -> Evaluation:
        """The figure is the perplexity: the exponential of the mean loss of a token."""
        total, rows, shown = torch.zeros(()), 0, None
        with text.evaluating(model) as device:
            for batch in text.evaluation_batches(self, samples, device):
                count = len(batch["input_ids"])
                total += self.loss(model, batch).cpu() * count
                rows += count
                shown = shown or continued(self.tokenizer, model, batch["input_ids"][0])
        loss = total / rows
        return Evaluation(float(loss), Figure("perplexity", float(loss.exp())), demonstration=shown)


def _batch(tokens: torch.Tensor, places: torch.Tensor | None) -> Batch:
    """Labels are the tokens themselves: the model shifts them by one. `places` has 0 where a text begins."""
    if places is None:
        return {"input_ids": tokens, "labels": tokens}
    return {"input_ids": tokens, "labels": tokens.masked_fill(places == 0, IGNORED), "position_ids": places}
