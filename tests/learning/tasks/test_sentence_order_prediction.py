"""Sentence order prediction on a tokenizer and texts small enough to check by hand."""

from itertools import cycle, islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from transformers import AlbertConfig

from core.api.errors import ManifestError, WorldError
from core.api.project.manifest import Manifest, Model
from core.api.project.tasks import SentenceOrderPrediction
from core.learning.model import build_model
from core.learning.tasks import task_for
from core.learning.tasks.sentence_order_prediction import SentenceOrderPredictionTask
from core.learning.tasks.task import Batch
from tests.learning.small_project import small_manifest
from tests.learning.tasks.words import WORDS, tokenizer_file

LENGTH = 24
TALE = "".join(f"{' '.join(WORDS[first : first + 5])}.\n" for first in range(0, 95, 5))
"""Nineteen sentences of five words, in the order of their numbers."""


@pytest.fixture
def manifest() -> Manifest:
    small = small_manifest(sequence_length=LENGTH, initializer_range=0.3)
    model = Model("AlbertForPreTraining", small.model.config)
    return msgspec.structs.replace(small, model=model, task=SentenceOrderPrediction(LENGTH))


@pytest.fixture
def task(manifest: Manifest, tmp_path: Path) -> SentenceOrderPredictionTask:
    made = task_for(manifest, AlbertConfig(**manifest.model.config), tokenizer_file(tmp_path))
    assert isinstance(made, SentenceOrderPredictionTask)
    return made


def original(batch: Batch) -> torch.Tensor:
    return torch.where(batch["labels"] == -100, batch["input_ids"], batch["labels"])


def segments(batch: Batch, row: int) -> tuple[list[int], list[int]]:
    """The numbers of the words of both segments, without the tokens between them."""
    tokens, types = original(batch)[row], batch["token_type_ids"][row]
    words = tokens >= 5
    return (tokens[words & (types == 0)] - 5).tolist(), (tokens[words & (types == 1)] - 5).tolist()


def test_a_sample_has_two_segments_of_consecutive_sentences_and_says_whether_they_are_swapped(
    task: SentenceOrderPredictionTask,
) -> None:
    swapped = 0
    for batch in islice(task.batches([TALE] * 40, 8, seed=1), 20):
        for row, label in enumerate(batch["sentence_order_label"].tolist()):
            first, second = segments(batch, row)
            earlier, later = (second, first) if label else (first, second)
            assert earlier
            assert later
            assert earlier == list(range(earlier[0], earlier[0] + len(earlier)))
            assert later == list(range(later[0], later[0] + len(later)))
            assert earlier[-1] < later[0]
            assert later[0] % 5 == 0, "a segment begins with a sentence"
            swapped += label
    assert 50 < swapped < 110, "about half of 160"


def test_rows_have_the_special_tokens_of_a_pair_and_are_padded_at_the_end(task: SentenceOrderPredictionTask) -> None:
    batch = next(task.batches(["w0 w1. w2 w3."], 1, seed=0))
    first, second = segments(batch, 0)
    assert sorted(first + second) == [0, 1, 2, 3]
    assert original(batch)[0, : 2 + len(first)].tolist()[:1] == [task.masking.start]
    ends = original(batch)[0] == task.masking.end
    used = int(batch["attention_mask"].sum())
    assert ends.nonzero().flatten().tolist() == [int((batch["token_type_ids"] == 0)[0, :used].sum()) - 1, used - 1]
    assert (batch["input_ids"][0, used:] == task.padding).all()
    assert (batch["labels"][0, used:] == -100).all()
    assert batch["input_ids"].shape == (1, LENGTH)


def test_segments_that_are_too_long_lose_their_ends(task: SentenceOrderPredictionTask) -> None:
    text = f"{' '.join(WORDS[:30])}.\n{' '.join(WORDS[30:70])}.\n"
    batch = next(task.batches([text], 1, seed=0))
    assert int(batch["attention_mask"].sum()) == LENGTH
    lengths = [len(segment) for segment in segments(batch, 0)]
    assert sum(lengths) == LENGTH - 3
    assert abs(lengths[0] - lengths[1]) <= 1


@pytest.mark.parametrize("text", ["এক দুই। তিন চার।", "one two. three four.", "one two\nthree four", "Really?! Yes."])
def test_sentences_end_at_full_stops_of_several_scripts_and_at_lines(
    task: SentenceOrderPredictionTask, text: str
) -> None:
    batch = next(task.batches([text], 1, seed=0))
    assert int((batch["token_type_ids"] == 1).sum()) > 0


def test_a_full_stop_within_a_number_ends_no_sentence(task: SentenceOrderPredictionTask) -> None:
    assert list(task.batches(["w1 3.14 w2"], 1, seed=0)) == []


def test_the_loss_is_that_of_the_masked_tokens_and_that_of_the_order(
    manifest: Manifest, task: SentenceOrderPredictionTask
) -> None:
    model: Any = build_model(manifest)
    model.eval()
    batch = next(task.batches([TALE], 4, seed=3))
    made = model(**{name: value for name, value in batch.items() if not name.endswith(("labels", "label"))})
    entropy = torch.nn.functional.cross_entropy
    reference = entropy(made.prediction_logits.flatten(0, 1), batch["labels"].flatten()) + entropy(
        made.sop_logits, batch["sentence_order_label"]
    )
    assert task.loss(model, batch).item() == pytest.approx(reference.item(), rel=1e-5)


def test_a_model_learns_the_order_of_texts_that_have_one(manifest: Manifest, task: SentenceOrderPredictionTask) -> None:
    model, texts = build_model(manifest), ["w0 w1 w2 w3.\nw50 w51 w52 w53.\n", "w4 w1 w2.\nw50 w54 w55.\n"]
    before = task.evaluate(model, texts)
    optimizer = torch.optim.AdamW(model.parameters(), 0.003)
    for batch in islice(task.batches(cycle(texts), 32, seed=5), 40):
        optimizer.zero_grad()
        task.loss(model, batch).backward()
        optimizer.step()
    after = task.evaluate(model, texts)
    [chance], [learned] = before.others, after.others
    assert learned.kind == "sentence_order_accuracy"
    assert chance.value == pytest.approx(0.5, abs=0.15)
    assert learned.value > 0.9
    assert after.figure.kind == "masked_accuracy"
    assert after.figure.value > before.figure.value
    assert after.loss < before.loss


def test_the_same_seed_makes_the_same_samples_and_another_seed_others(task: SentenceOrderPredictionTask) -> None:
    first, again, other = (next(task.batches([TALE], 4, seed)) for seed in (4, 4, 5))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_texts_of_one_sentence_are_an_error_and_not_read_for_ever(task: SentenceOrderPredictionTask) -> None:
    with pytest.raises(WorldError) as raised:
        next(task.batches(iter(lambda: "w1 w2 w3", None), 4, seed=0))
    assert raised.value.message.kind == "data_without_sentences"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"model": Model("AlbertForMaskedLM", {"vocab_size": 100})}, "$.model.architecture"),
        ({"model": Model("AlbertForPreTraining", {"vocab_size": 99})}, "$.model.config.vocab_size"),
        ({"task": SentenceOrderPrediction(1024)}, "$.task.sequence_length"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_field(
    manifest: Manifest, changes: dict[str, object], field: str, tmp_path: Path
) -> None:
    changed = msgspec.structs.replace(manifest, **changes)
    with pytest.raises(ManifestError) as raised:
        task_for(changed, build_model(changed).config, tokenizer_file(tmp_path))
    assert raised.value.field == field


def test_a_tokenizer_without_padding_is_refused(manifest: Manifest, tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as raised:
        task_for(
            manifest,
            AlbertConfig(**manifest.model.config),
            tokenizer_file(tmp_path, ["[OTHER]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]),
        )
    assert raised.value.field == "$.tokenizer"
