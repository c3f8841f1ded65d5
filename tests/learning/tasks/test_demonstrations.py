"""Examples of what a model can do: what was given, what it made, and what is right."""

from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import torch
from PIL import Image
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from core.api.project.demonstration import LARGEST, LARGEST_PICTURE, Demonstration, Span
from core.learning.model import build_model
from core.learning.tasks import task_for
from core.learning.tasks.demonstrations import continued, filled, nearest, table
from core.learning.tasks.masking import IGNORED
from tests.learning.small_project import small_causal_manifest, small_manifest
from tests.learning.tasks.words import TEXT, tokenizer_file

WORDS = ["the", "cat", "sees", "a", "dog", "here"]


def tokenizer() -> Tokenizer:
    """One that puts spaces before words, as those of the published runs do."""
    made = Tokenizer(models.Unigram([("<unk>", 0.0), *((f"▁{word}", -1.0) for word in WORDS)], unk_id=0))
    made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    return made


class Counting:
    """Predicts the next number after each."""

    def __call__(self, input_ids: torch.Tensor, **_: Any) -> Any:
        return SimpleNamespace(logits=100 * torch.nn.functional.one_hot(input_ids + 1, 32).float())


def test_a_text_is_continued_by_what_the_model_predicts() -> None:
    numbers = Tokenizer(models.WordLevel({f"n{number}": number for number in range(32)}, unk_token="n0"))
    shown = continued(numbers, Counting(), torch.arange(8))
    assert shown.spans == (Span("n0 n1 n2 n3"), Span(" n4 n5 n6 n7", is_made=True))


def test_masked_words_are_filled_and_wrong_ones_have_the_right_one_beside_them() -> None:
    right = torch.tensor(tokenizer().encode("the cat sees a dog here").ids)
    labels = torch.full_like(right, IGNORED)
    labels[[1, 4]] = right[[1, 4]]
    inputs, guesses = right.clone(), right.clone()
    inputs[[1, 4]], guesses[4] = 0, right[1]
    shown = filled(tokenizer(), labels, inputs, torch.nn.functional.one_hot(guesses, 7).float())
    assert shown.spans == (
        Span("the"),
        Span(" cat", is_made=True),
        Span(" sees a"),
        Span(" cat", is_made=True, right=" dog"),
        Span(" here"),
    )


def test_a_token_that_is_only_a_space_can_be_seen() -> None:
    made = Tokenizer(models.Unigram([("<unk>", 0.0), ("▁", -1.0), ("cat", -1.0)], unk_id=0))
    made.decoder = decoders.Metaspace()
    labels = torch.tensor([IGNORED, 1])
    shown = filled(made, labels, torch.tensor([2, 0]), torch.nn.functional.one_hot(torch.tensor([2, 2]), 3).float())
    assert shown.spans == (Span("cat"), Span("cat", is_made=True, right="␣"))


def test_tokens_of_very_long_texts_are_cut_to_what_can_be_sent() -> None:
    vocabulary = {f"{number:02}" + "\x01" * 4000: number for number in range(80)}
    long = Tokenizer(models.WordLevel(vocabulary, unk_token=next(iter(vocabulary))))
    labels = torch.arange(40)
    labels[::2] = IGNORED
    predicted = torch.nn.functional.one_hot(torch.arange(40) + 40, 80).float()
    for shown in (filled(long, labels, torch.arange(40), predicted), continued(long, Counting(), torch.arange(8))):
        sent = msgspec.json.encode(shown)
        assert len(sent) <= LARGEST
        assert msgspec.json.decode(sent, type=Demonstration) == shown


def test_each_row_of_pictures_begins_with_the_one_that_the_others_are_like() -> None:
    colours = torch.eye(3).repeat(8, 1)  # red, green, blue, red …
    pictures = colours[:, :, None, None].expand(-1, -1, 20, 20)
    shown = nearest(pictures, colours + 0.01 * torch.rand(24, 3))
    assert shown is not None
    assert shown.picture is not None
    assert len(shown.picture) < LARGEST_PICTURE
    with Image.open(BytesIO(shown.picture)) as image:
        assert image.size == (5 * 51 - 3, 4 * 51 - 3)
        found = [[image.getpixel((51 * column + 24, 51 * row + 24)) for column in range(5)] for row in range(4)]
    assert all(len(set(row)) == 1 for row in found), found
    assert len({row[0] for row in found}) > 1
    assert nearest(pictures[:19], colours[:19]) is None


def test_the_largest_table_of_pictures_can_be_sent() -> None:
    torch.manual_seed(0)
    shown = nearest(torch.rand(64, 3, 96, 96), torch.rand(64, 8))
    assert shown is not None
    assert shown.picture is not None
    assert len(shown.picture) < LARGEST_PICTURE


def test_a_table_of_large_pictures_is_made_small_enough_to_be_sent() -> None:
    torch.manual_seed(0)
    made = table(torch.rand(3, 3, 512, 512), 3)
    assert len(made) <= LARGEST_PICTURE
    with Image.open(BytesIO(made)) as image:
        assert image.size == (3 * (128 + 3) - 3, 128)


def test_evaluation_has_an_example_and_the_same_model_gives_the_same(tmp_path: Path) -> None:
    for manifest, kind in ((small_manifest(), "filled_masks"), (small_causal_manifest(), "continued_text")):
        model: Any = build_model(manifest)
        task = task_for(manifest, model.config, tokenizer_file(tmp_path))
        first, again = (task.evaluate(model, [TEXT]).demonstration for _ in range(2))
        assert first is not None
        assert first == again
        assert first.kind == kind
        assert {span.is_made for span in first.spans} == {False, True}


def test_a_model_of_broken_numbers_is_evaluated_all_the_same(tmp_path: Path) -> None:
    manifest = small_causal_manifest()
    model: Any = build_model(manifest)
    with torch.no_grad():
        next(model.parameters()).fill_(float("nan"))
    found = task_for(manifest, model.config, tokenizer_file(tmp_path)).evaluate(model, [TEXT])
    assert found.loss != found.loss
