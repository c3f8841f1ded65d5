"""The masks of masked language modelling (Devlin et al. 2018), for every task that has them."""

from dataclasses import dataclass
from typing import Self

import torch
from tokenizers import Tokenizer

from core.learning.tasks import text
from core.learning.tasks.task import Batch

IGNORED = -100
"""torch's cross entropy ignores labels with this value."""


@dataclass(frozen=True)
class Masking:
    """Chooses the tokens to predict; of these 80 % are masked, 10 % replaced at random, 10 % unchanged."""

    probability: float
    start: int
    end: int
    mask: int
    special: frozenset[int]
    """Never predicted."""
    vocabulary: int

    @classmethod
    def of(cls, tokenizer: Tokenizer, probability: float) -> Self:
        """Raises ManifestError if the tokenizer lacks one of the special tokens."""
        start, end, mask = (text.token_id(tokenizer, name, "$.tokenizer") for name in ("[CLS]", "[SEP]", "[MASK]"))
        special = frozenset(n for n, token in tokenizer.get_added_tokens_decoder().items() if token.special)
        return cls(probability, start, end, mask, special, tokenizer.get_vocab_size())

    def masked(self, tokens: torch.Tensor, generator: torch.Generator) -> Batch:
        """`input_ids` and `labels` of rows of tokens."""
        chosen = torch.rand(tokens.shape, generator=generator) < self.probability
        for number in self.special:
            chosen &= tokens != number
        kind = torch.rand(tokens.shape, generator=generator)
        random_tokens = torch.randint(self.vocabulary, tokens.shape, generator=generator)
        inputs = torch.where(chosen & (kind < 0.8), torch.full_like(tokens, self.mask), tokens)
        inputs = torch.where(chosen & (kind >= 0.9), random_tokens, inputs)
        return {"input_ids": inputs, "labels": torch.where(chosen, tokens, torch.full_like(tokens, IGNORED))}


@dataclass
class MaskedAccuracy:
    """Counts how many of the masked tokens a model predicts correctly."""

    right: int = 0
    asked: int = 0

    def add(self, logits: torch.Tensor, labels: torch.Tensor) -> int:
        """Count a batch: logits (rows, tokens, vocabulary), labels (rows, tokens). Returns its masked tokens."""
        count = int((labels != IGNORED).sum())
        self.right += int((logits.argmax(-1) == labels).sum())
        self.asked += count
        return count

    @property
    def share(self) -> float:
        return text.mean(self.right, self.asked)
