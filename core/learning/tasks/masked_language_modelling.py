"""Masked language modelling (Devlin et al. 2018): guess hidden pieces of a text from those around them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import torch
from tokenizers import Tokenizer

from core.api.errors import ManifestError
from core.api.project.manifest import Manifest
from core.learning.tasks import Batch

_IGNORED = -100
"""torch's cross entropy leaves labels with this value out."""
_EVALUATION_SEED = 0
_EVALUATION_BATCH = 32
_EVALUATION_SAMPLES = 256
"""Enough for a standard error of about 0.03 in the practice project, small enough to be done in seconds."""


@dataclass(frozen=True)
class MaskedLanguageModellingTask:
    """Sequences are `[CLS] pieces [SEP]` of exactly `sequence_length`; texts are packed one after the other."""

    tokenizer: Tokenizer
    sequence_length: int
    mask_probability: float
    start: int
    end: int
    mask: int
    special: frozenset[int]
    vocabulary: int

    @classmethod
    def from_manifest(cls, manifest: Manifest, tokenizer_file: str) -> "MaskedLanguageModellingTask":
        """Raises ManifestError if the tokenizer lacks the pieces of this task or exceeds the model's vocabulary."""
        try:
            tokenizer = Tokenizer.from_file(tokenizer_file)
        except Exception as error:  # the Rust library raises bare Exception
            raise ManifestError(f"the tokenizer file cannot be read: {error}.", "$.tokenizer") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        vocabulary = tokenizer.get_vocab_size()
        room = manifest.model.config.get("vocab_size", vocabulary)
        if vocabulary > room:
            problem = f"the tokenizer has {vocabulary} pieces, more than {room}."
            raise ManifestError(problem, "$.model.config.vocab_size")
        return cls(
            tokenizer=tokenizer,
            sequence_length=manifest.task.sequence_length,
            mask_probability=manifest.task.mask_probability,
            start=_piece(tokenizer, "[CLS]"),
            end=_piece(tokenizer, "[SEP]"),
            mask=_piece(tokenizer, "[MASK]"),
            special=frozenset(n for n, piece in tokenizer.get_added_tokens_decoder().items() if piece.special),
            vocabulary=vocabulary,
        )

    def batches(self, texts: Iterable[str], size: int, seed: int) -> Iterator[Batch]:
        generator = torch.Generator().manual_seed(seed)
        rows = self._rows(texts)
        while chunk := list(islice(rows, size)):
            yield self._hide(torch.tensor(chunk), generator)

    def loss(self, model: torch.nn.Module, batch: Batch) -> torch.Tensor:
        loss: torch.Tensor = model(**batch).loss
        return loss

    @torch.no_grad()
    def evaluate(self, model: torch.nn.Module, text: str) -> float:
        device = next(model.parameters()).device
        was_training = model.training
        model.eval()
        total, hidden = 0.0, 0
        for batch in islice(
            self.batches([text], _EVALUATION_BATCH, _EVALUATION_SEED), _EVALUATION_SAMPLES // _EVALUATION_BATCH
        ):
            pieces = int((batch["labels"] != _IGNORED).sum())
            total += float(self.loss(model, {name: value.to(device) for name, value in batch.items()})) * pieces
            hidden += pieces
        model.train(was_training)
        return total / max(1, hidden)

    def _rows(self, texts: Iterable[str]) -> Iterator[list[int]]:
        length = self.sequence_length - 2
        pieces: list[int] = []
        for text in texts:
            pieces += self.tokenizer.encode(text, add_special_tokens=False).ids
            used = len(pieces) // length * length
            for start in range(0, used, length):
                yield [self.start, *pieces[start : start + length], self.end]
            pieces = pieces[used:]

    def _hide(self, pieces: torch.Tensor, generator: torch.Generator) -> Batch:
        """Choose pieces to guess; of these 80 % are masked, 10 % replaced at random, 10 % kept."""
        chance = torch.rand(pieces.shape, generator=generator)
        chosen = chance < self.mask_probability
        for number in self.special:
            chosen &= pieces != number
        kind = torch.rand(pieces.shape, generator=generator)
        random_pieces = torch.randint(self.vocabulary, pieces.shape, generator=generator)
        inputs = torch.where(chosen & (kind < 0.8), torch.full_like(pieces, self.mask), pieces)
        inputs = torch.where(chosen & (kind >= 0.9), random_pieces, inputs)
        return {"input_ids": inputs, "labels": torch.where(chosen, pieces, torch.full_like(pieces, _IGNORED))}


def _piece(tokenizer: Tokenizer, name: str) -> int:
    number = tokenizer.token_to_id(name)
    if number is None:
        raise ManifestError(f"the tokenizer has no piece {name}, which this task needs.", "$.tokenizer")
    return int(number)
