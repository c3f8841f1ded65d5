"""Anybody can compute the gradients of a peer again."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from transformers import PreTrainedModel

from core.api.project.data import TextData
from core.api.project.fields import File
from core.host.project import load
from core.learning.data import training_samples
from core.learning.model import build_model
from core.learning.order import BadWork, Order, Piece, Samples, compute_again
from core.learning.tasks import task_for
from core.swarm.trust.validation import tolerance_of
from core.trainer.microbatch import Microbatches
from tests.end_to_end.machine import PRACTICE

CPU = torch.device("cpu")
FILES = tuple(File(name, "0" * 64, 17 << 20) for name in ("a", "b"))
"""Each large enough for a portion of its own."""


@pytest.fixture(scope="module")
def model() -> PreTrainedModel:
    """With dropout."""
    config = {"num_hidden_layers": 1, "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1}
    manifest = load(PRACTICE / "project.toml").manifest(Path("/nowhere"), ())
    smaller = msgspec.structs.replace(manifest.model, config={**manifest.model.config, **config})
    model = build_model(msgspec.structs.replace(manifest, model=smaller))
    model.train()
    return model


def order(model: PreTrainedModel, peer: bytes = b"peer", run: str = "run") -> Order:
    manifest = load(PRACTICE / "project.toml").manifest(Path("/nowhere"), ())
    task = task_for(manifest, model.config, PRACTICE / "tokenizer.json")
    samples = partial(training_samples, manifest.data, sorted(PRACTICE.glob("train-*.txt")))
    return Order(task, samples, 16, run, peer)


def computed(
    model: PreTrainedModel, epochs: list[int], target: int = 0, half: torch.dtype | None = None
) -> tuple[list[Piece], torch.Tensor]:
    """What a trainer computes in these epochs, with the same parameters."""
    microbatches = Microbatches(order(model), model, CPU, half_precision=half)
    pieces, total = list[Piece](), torch.zeros(0)
    for epoch in epochs:
        model.zero_grad()
        done = microbatches.compute(epoch, target)
        pieces.append(done.piece)
        vector = torch.cat([parameter.grad.flatten() for parameter in model.parameters() if parameter.grad is not None])
        total = (total if len(total) else torch.zeros_like(vector)) + done.samples * vector
    return pieces, total / sum(piece.count for piece in pieces)


@pytest.mark.parametrize("target", [0, 1])
def test_gradients_are_computed_again_with_the_same_masks_and_dropout(model: PreTrainedModel, target: int) -> None:
    pieces, vector = computed(model, [3, 3, 3, 4], target)
    prepared = list[int]()
    torch.manual_seed(123)
    again = compute_again(order(model), model, pieces, prepared.append)
    assert torch.equal(again, vector) or float((again - vector).norm() / vector.norm()) < 1e-5
    assert prepared == [3, 3, 3, 4]


@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])
def test_a_validator_in_float32_passes_who_computes_in_half_the_bits(model: PreTrainedModel, half: torch.dtype) -> None:
    pieces, vector = computed(model, [3, 3], half=half)
    again = compute_again(order(model), model, pieces, lambda _epoch: None)
    deviation = float((again - vector).norm() / vector.norm())
    assert 1e-4 < deviation < tolerance_of("float16") / 5


@pytest.mark.parametrize("other", [{"peer": b"another"}, {"run": "another"}], ids=["peer", "run"])
def test_others_have_other_samples(model: PreTrainedModel, other: dict[str, Any]) -> None:
    pieces, vector = computed(model, [3, 3])
    again = compute_again(order(model, **other), model, pieces, lambda _epoch: None)
    assert float((again - vector).norm() / vector.norm()) > 0.5


def test_each_epoch_has_other_samples_and_goes_on_where_it_was(model: PreTrainedModel) -> None:
    samples = Samples(order(model))
    pieces = [samples.take(epoch, most)[0] for epoch, most in [(1, 10), (1, 100), (1, 16), (2, 16)]]
    assert pieces == [Piece(1, 0, 10), Piece(1, 10, 6), Piece(1, 16, 16), Piece(2, 0, 16)]
    first, second = (Samples(order(model)).take(epoch, 16)[1]["input_ids"] for epoch in (1, 2))
    assert not torch.equal(first, second)


@pytest.mark.parametrize("pieces", [[Piece(1, 8, 16)], [Piece(1, 0, 16), Piece(1, 0, 16)], [Piece(1, 0, 17)]])
def test_pieces_that_nobody_has_computed_are_none(model: PreTrainedModel, pieces: list[Piece]) -> None:
    with pytest.raises(BadWork):
        compute_again(order(model), model, pieces, lambda _epoch: None)


def test_the_samples_of_another_portion_are_others_and_are_computed_again(model: PreTrainedModel) -> None:
    def samples(seed: int, portion: int) -> Iterator[str]:
        return training_samples(TextData(FILES), sorted(PRACTICE.glob("train-*.txt"))[:2], seed, portion)

    split = replace(order(model), samples=samples)
    microbatches = Microbatches(split, model, CPU, portion=lambda epoch: epoch % 2)
    vectors, pieces = list[torch.Tensor](), list[Piece]()
    for epoch in (2, 3):
        model.zero_grad()
        pieces.append(microbatches.compute(epoch, 0).piece)
        vectors.append(
            torch.cat([parameter.grad.flatten() for parameter in model.parameters() if parameter.grad is not None])
        )
    assert [piece.portion for piece in pieces] == [0, 1]
    for piece, vector in zip(pieces, vectors, strict=True):
        again = compute_again(split, model, [piece], lambda _epoch: None)
        assert float((again - vector).norm() / vector.norm()) < 1e-5
        wrong = compute_again(split, model, [msgspec.structs.replace(piece, portion=1 - piece.portion)], lambda _: None)
        assert float((wrong - vector).norm() / vector.norm()) > 0.5
    both = compute_again(split, model, pieces, lambda _epoch: None)
    assert float((2 * both - vectors[0] - vectors[1]).norm() / both.norm()) < 1e-4


def test_pieces_that_were_left_out_are_passed_over(model: PreTrainedModel) -> None:
    pieces, all_three = computed(model, [1, 1, 1])
    _, first_two = computed(model, [1, 1])
    again = compute_again(order(model), model, pieces[2:], lambda _epoch: None)
    assert float((again - (3 * all_three - 2 * first_two)).norm() / again.norm()) < 1e-4
