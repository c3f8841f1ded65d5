"""Masked language modelling on a tokenizer and texts small enough to check by hand."""

from itertools import islice
from pathlib import Path

import msgspec
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from core.api.errors import ManifestError
from core.api.project.manifest import Manifest
from core.learning.tasks import task_for
from core.learning.tasks.masked_language_modelling import MaskedLanguageModellingTask
from tests.learning.small_project import small_manifest

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [f"w{number}" for number in range(95)]
TEXT = " ".join(WORDS * 40)


def tokenizer_file(folder: Path, special: list[str]) -> str:
    tokenizer = Tokenizer(
        WordLevel({word: number for number, word in enumerate(special + WORDS)}, unk_token=special[1])
    )
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.add_special_tokens(special)
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return str(path)


@pytest.fixture
def manifest() -> Manifest:
    return small_manifest(sequence_length=16, vocabulary=100)


@pytest.fixture
def task(manifest: Manifest, tmp_path: Path) -> MaskedLanguageModellingTask:
    made = task_for(manifest, tokenizer_file(tmp_path, SPECIAL))
    assert isinstance(made, MaskedLanguageModellingTask)
    return made


def test_sequences_are_packed_between_their_marks_and_nothing_of_the_text_is_lost(
    task: MaskedLanguageModellingTask,
) -> None:
    [batch] = islice(task.batches([TEXT], 8, seed=1), 1)
    pieces, labels = batch["input_ids"], batch["labels"]
    assert pieces.shape == labels.shape == (8, 16)
    assert (pieces[:, 0] == task.start).all()
    assert (pieces[:, -1] == task.end).all()
    original = torch.where(labels == -100, pieces, labels)[:, 1:-1].flatten()
    assert original.tolist() == task.tokenizer.encode(TEXT).ids[: 8 * 14]


def test_marks_are_never_to_be_guessed(task: MaskedLanguageModellingTask) -> None:
    for batch in task.batches([TEXT], 8, seed=2):
        assert (batch["labels"][:, 0] == -100).all()
        assert (batch["labels"][:, -1] == -100).all()


def test_of_the_pieces_to_guess_most_are_masked_some_replaced_and_some_kept(task: MaskedLanguageModellingTask) -> None:
    masked = kept = hidden = total = 0
    for batch in task.batches([TEXT] * 20, 8, seed=3):
        asked = batch["labels"] != -100
        hidden += int(asked.sum())
        total += asked[:, 1:-1].numel()
        masked += int((batch["input_ids"][asked] == task.mask).sum())
        kept += int((batch["input_ids"] == batch["labels"]).sum())
    assert hidden / total == pytest.approx(0.15, abs=0.01)
    assert masked / hidden == pytest.approx(0.8, abs=0.02)
    assert kept / hidden == pytest.approx(0.1, abs=0.02)


def test_the_same_seed_hides_the_same_pieces_and_another_seed_others(task: MaskedLanguageModellingTask) -> None:
    first, again, other = (next(task.batches([TEXT], 8, seed)) for seed in (4, 4, 5))
    assert torch.equal(first["input_ids"], again["input_ids"])
    assert not torch.equal(first["input_ids"], other["input_ids"])


def test_evaluation_repeats_itself_and_leaves_the_model_in_training(
    manifest: Manifest, task: MaskedLanguageModellingTask
) -> None:
    from core.learning.model import build_model

    model = build_model(manifest)
    model.train()
    first = task.evaluate(model, TEXT)
    assert first == task.evaluate(model, TEXT)
    assert first == pytest.approx(torch.log(torch.tensor(100.0)).item(), abs=0.5)
    assert model.training


def test_a_tokenizer_without_the_pieces_of_the_task_is_refused(manifest: Manifest, tmp_path: Path) -> None:
    without_mask = [*SPECIAL[:4], "[OTHER]"]
    with pytest.raises(ManifestError, match=r"\$\.tokenizer: .*\[MASK\]"):
        task_for(manifest, tokenizer_file(tmp_path, without_mask))


def test_a_tokenizer_larger_than_the_model_is_refused(manifest: Manifest, tmp_path: Path) -> None:
    model = msgspec.structs.replace(manifest.model, config={**manifest.model.config, "vocab_size": 50})
    with pytest.raises(ManifestError, match="vocab_size: the tokenizer has 100 pieces"):
        task_for(msgspec.structs.replace(manifest, model=model), tokenizer_file(tmp_path, SPECIAL))


def test_a_file_that_is_no_tokenizer_is_refused(manifest: Manifest, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(ManifestError, match=r"\$\.tokenizer: the tokenizer file cannot be read"):
        task_for(manifest, str(tmp_path / "no.json"))
