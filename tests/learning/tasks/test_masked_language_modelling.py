"""Masked language modelling on a tokenizer and texts small enough to check by hand."""

from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import AlbertConfig

from core.api.errors import ManifestError
from core.api.message import Message
from core.api.project.manifest import Manifest
from core.learning.model import build_model
from core.learning.tasks import task_for
from core.learning.tasks.masked_language_modelling import MaskedLanguageModellingTask
from tests.learning.small_project import small_manifest
from tests.learning.tasks.words import SPECIAL, TEXT, tokenizer_file


@pytest.fixture
def manifest() -> Manifest:
    return small_manifest(sequence_length=16, vocabulary=100)


@pytest.fixture
def task(manifest: Manifest, tmp_path: Path) -> MaskedLanguageModellingTask:
    made = task_for(manifest, AlbertConfig(vocab_size=100), tokenizer_file(tmp_path))
    assert isinstance(made, MaskedLanguageModellingTask)
    return made


def test_sequences_are_packed_between_their_marks_and_nothing_of_the_text_is_lost(
    task: MaskedLanguageModellingTask,
) -> None:
    [batch] = islice(task.batches([TEXT], 8, seed=1), 1)
    tokens, labels = batch["input_ids"], batch["labels"]
    assert tokens.shape == labels.shape == (8, 16)
    assert (tokens[:, 0] == task.masking.start).all()
    assert (tokens[:, -1] == task.masking.end).all()
    original = torch.where(labels == -100, tokens, labels)[:, 1:-1].flatten()
    assert original.tolist() == task.tokenizer.encode(TEXT).ids[: 8 * 14]


def test_special_tokens_are_never_predicted(task: MaskedLanguageModellingTask) -> None:
    for batch in task.batches([TEXT], 8, seed=2):
        assert (batch["labels"][:, 0] == -100).all()
        assert (batch["labels"][:, -1] == -100).all()


def test_of_the_tokens_to_predict_most_are_masked_some_replaced_and_some_unchanged(
    task: MaskedLanguageModellingTask,
) -> None:
    masked = unchanged = chosen = total = 0
    for batch in task.batches([TEXT] * 20, 8, seed=3):
        asked = batch["labels"] != -100
        chosen += int(asked.sum())
        total += asked[:, 1:-1].numel()
        masked += int((batch["input_ids"][asked] == task.masking.mask).sum())
        unchanged += int((batch["input_ids"] == batch["labels"]).sum())
    assert chosen / total == pytest.approx(0.15, abs=0.01)
    assert masked / chosen == pytest.approx(0.8, abs=0.02)
    assert unchanged / chosen == pytest.approx(0.1, abs=0.02)


def test_the_same_seed_masks_the_same_tokens_and_another_seed_others(task: MaskedLanguageModellingTask) -> None:
    first, again, other = (next(task.batches([TEXT], 8, seed)) for seed in (4, 4, 5))
    assert torch.equal(first["input_ids"], again["input_ids"])
    assert not torch.equal(first["input_ids"], other["input_ids"])


def test_evaluation_repeats_itself_and_leaves_the_model_in_training(
    manifest: Manifest, task: MaskedLanguageModellingTask
) -> None:
    model = build_model(manifest)
    model.train()
    first = task.evaluate(model, [TEXT])
    assert first == task.evaluate(model, [TEXT])
    assert first.loss == pytest.approx(torch.log(torch.tensor(100.0)).item(), abs=0.5)
    assert model.training


def test_the_figure_is_the_share_of_the_masked_tokens_that_are_predicted_right(
    task: MaskedLanguageModellingTask,
) -> None:
    class Oracle(torch.nn.Module):
        """Sees the labels, and is wrong about every token whose number 4 divides."""

        def __init__(self, asked: list[int]) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(1))
            self._asked = asked

        def forward(self, input_ids: torch.Tensor, labels: torch.Tensor) -> Any:
            self._asked += labels[labels != -100].tolist()
            answers = torch.where(labels % 4 == 0, labels + 1, labels).clamp(min=0)
            logits = torch.nn.functional.one_hot(answers, 101).float()
            return SimpleNamespace(loss=torch.zeros(()), logits=logits)

    asked: list[int] = []
    figure = task.evaluate(Oracle(asked), [TEXT]).figure
    assert figure.kind == "masked_accuracy"
    assert figure.value == pytest.approx(sum(token % 4 > 0 for token in asked) / len(asked))


def test_a_tokenizer_without_the_tokens_of_the_task_is_refused(manifest: Manifest, tmp_path: Path) -> None:
    without_mask = [*SPECIAL[:4], "[OTHER]"]
    with pytest.raises(ManifestError) as raised:
        task_for(manifest, AlbertConfig(vocab_size=100), tokenizer_file(tmp_path, without_mask))
    assert (raised.value.field, raised.value.problem) == ("$.tokenizer", Message("token_missing", {"token": "[MASK]"}))
