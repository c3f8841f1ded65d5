"""Shared by tasks on text: the tokenizer, samples of one length, and evaluation on a bounded part of the text."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import TypeVar

import torch
from tokenizers import Tokenizer
from transformers.configuration_utils import PretrainedConfig

from core.api.errors import ManifestError
from core.api.project.tasks import TextTask
from core.learning.tasks.task import Batch, Task

Row = TypeVar("Row")

_EVALUATION_SEED = 0
_EVALUATION_BATCH = 32
_EVALUATION_SAMPLES = 256
"""Enough for a standard error of about 0.03 in the practice project, in a few seconds."""


def load_tokenizer(path: Path | None, config: PretrainedConfig) -> Tokenizer:
    """The tokenizer of a model with this configuration.

    Raises:
        ManifestError: it cannot be read, or has tokens that the model has no embeddings for.
    """
    if path is None:
        raise ManifestError("field_missing", "$.tokenizer")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the Rust library raises bare Exception
        raise ManifestError("tokenizer_not_readable", "$.tokenizer", detail=str(error)) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokens, most = tokenizer.get_vocab_size(), config.vocab_size
    if tokens > most:
        raise ManifestError("vocabulary_too_large", "$.model.config.vocab_size", tokens=tokens, most=most)
    return tokenizer


def token_id(tokenizer: Tokenizer, token: str, field: str) -> int:
    """The number of a token; `field` of the manifest asks for it.

    Raises:
        ManifestError: the tokenizer does not have it.
    """
    number = tokenizer.token_to_id(token)
    if number is None:
        raise ManifestError("token_missing", field, token=token)
    return int(number)


def token_sample(declared: TextTask, config: PretrainedConfig) -> torch.Tensor:
    """One sample of tokens, as long as the manifest declares.

    Raises:
        ManifestError: the model has fewer positions.
    """
    most = getattr(config, "max_position_embeddings", declared.sequence_length)
    if most < declared.sequence_length:
        raise ManifestError("sequence_too_long", "$.task.sequence_length", most=most)
    return torch.zeros((1, declared.sequence_length), dtype=torch.long)


def packed(
    tokenizer: Tokenizer, texts: Iterable[str], length: int, separator: tuple[int, ...] = ()
) -> Iterator[list[int]]:
    """The tokens of the texts, one text after the other, cut into rows of `length`; `separator` ends each text."""
    for tokens, _ in packed_with_positions(tokenizer, texts, length, separator):
        yield tokens


def packed_with_positions(
    tokenizer: Tokenizer, texts: Iterable[str], length: int, separator: tuple[int, ...] = ()
) -> Iterator[tuple[list[int], list[int]]]:
    """As `packed`, with the place of each token in its text; what a row has of a text begins with 0."""
    tokens, places = list[int](), list[int]()
    for text in texts:
        new = [*tokenizer.encode(text, add_special_tokens=False).ids, *separator]
        tokens += new
        places += range(len(new))
        used = len(tokens) // length * length
        for start in range(0, used, length):
            yield tokens[start : start + length], _from_zero(places[start : start + length])
        tokens, places = tokens[used:], places[used:]


def _from_zero(places: list[int]) -> list[int]:
    """The beginning of a text may be in the row before."""
    rest = next((place for place in range(1, len(places)) if places[place] == 0), len(places))
    return [*range(rest), *places[rest:]]


def in_batches(rows: Iterable[list[int]], size: int) -> Iterator[torch.Tensor]:
    """`size` rows at a time; the last batch may be smaller."""
    yield from map(torch.tensor, chunks(rows, size))


def chunks(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """`size` rows at a time; the last chunk may be smaller."""
    rows = iter(rows)
    while chunk := list(islice(rows, size)):
        yield chunk


def mean(total: float, count: int) -> float:
    """Not a number without samples."""
    return total / count if count else float("nan")


def evaluation_batches(task: Task, texts: Iterable[str], device: torch.device) -> Iterator[Batch]:
    """The first batches of held-out text, the same every time, on the model's device. A short text is read again."""
    batches = task.batches(cycle(texts), _EVALUATION_BATCH, _EVALUATION_SEED)
    for batch in islice(batches, _EVALUATION_SAMPLES // _EVALUATION_BATCH):
        yield {name: value.to(device) for name, value in batch.items()}


@contextmanager
def evaluating(model: torch.nn.Module) -> Iterator[torch.device]:
    """A context with the model in evaluation mode and without gradients; yields its device."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield next(model.parameters()).device
    finally:
        model.train(was_training)
