"""Which states count as the same."""

import os
from collections.abc import Callable

import pytest
import torch

from core.swarm.state.sketch import COARSE, FINE, Sketch, is_same, sketch_in, sketch_of

PARAMETERS = 3


def state() -> list[torch.Tensor]:
    """Three parameters; then two tensors for each, one of which is a hundred times as small."""
    draw = torch.Generator().manual_seed(0)
    shapes = ((40, 50), (50,), (7,))
    parameters = [torch.randn(shape, generator=draw) for shape in shapes]
    sizes = (1e-3, 1e-5)
    return parameters + [torch.randn(shape, generator=draw) * size for shape in shapes for size in sizes]


def sketch(tensors: list[torch.Tensor]) -> Sketch:
    return sketch_of(7, tensors, os.urandom(16))


def changed(number: int, change: Callable[[torch.Tensor], torch.Tensor]) -> list[torch.Tensor]:
    return [change(tensor) if place == number else tensor for place, tensor in enumerate(state())]


def test_a_state_is_the_same_after_the_rounding_of_any_lossy_round() -> None:
    rounded = [tensor.half().float() for tensor in state()]
    assert is_same(sketch(state()), rounded, PARAMETERS, FINE)


def test_gradients_that_are_only_rounding_may_differ_wholly() -> None:
    ours, theirs = (changed(2, lambda tensor: torch.randn_like(tensor) * 1e-8) for _ in range(2))
    assert is_same(sketch(ours), theirs, PARAMETERS, FINE)


@pytest.mark.parametrize("number", range(3 * PARAMETERS))
def test_one_tensor_of_other_numbers_is_another_state(number: int) -> None:
    for _ in range(20):
        other = changed(number, lambda tensor: torch.randn_like(tensor) * tensor.abs().mean())
        assert not is_same(sketch(state()), other, PARAMETERS, FINE)


@pytest.mark.parametrize("number", range(3 * PARAMETERS))
def test_the_optimizers_memory_cannot_be_emptied(number: int) -> None:
    assert not is_same(sketch(state()), changed(number, torch.zeros_like), PARAMETERS, FINE)


def test_with_eight_bits_fresh_parameters_are_another_state_too() -> None:
    fresh = [torch.randn_like(tensor) for tensor in state()[:PARAMETERS]] + state()[PARAMETERS:]
    assert not is_same(sketch(state()), fresh, PARAMETERS, COARSE)
    coarsely = [tensor * (1 + 0.1 * torch.randn_like(tensor)) for tensor in state()]
    assert is_same(sketch(state()), coarsely, PARAMETERS, COARSE)
    assert not is_same(sketch(state()), coarsely, PARAMETERS, FINE)


def test_other_signs_are_drawn_for_every_seed() -> None:
    """Or somebody could make other tensors with the same sums."""
    assert sketch(state()).rows != sketch(state()).rows


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x93\x07\xc4\x01a\xc4\x00", b"\x93\xff\xc4\x00\xc4\x00"])
def test_what_is_no_sketch_says_nothing(data: bytes) -> None:
    assert sketch_in(data) is None


@pytest.mark.parametrize("rows", [b"", b"\xff" * 8 * 17 * 9])
def test_a_sketch_of_other_tensors_or_without_finite_numbers_is_of_no_state(rows: bytes) -> None:
    assert not is_same(Sketch(7, os.urandom(16), rows), state(), PARAMETERS, COARSE)
