"""A few sums stand for a vector."""

import numpy as np
import pytest
import torch

from core.swarm.trust.audit import sums_of
from core.swarm.trust.signed_sums import signed_sums

SEED = b"0123456789abcdef"


def drawn(count: int) -> np.ndarray:
    """The signs, bit by bit."""
    words = np.random.PCG64(1).random_raw(-(-count // 64))
    return 1.0 - 2.0 * np.unpackbits(words.view(np.uint8), count=count)


@pytest.mark.parametrize("sums", [16, 128])
@pytest.mark.parametrize("count", [0, 1, 63, 4095, 4096, 4097, 20_000])
def test_each_number_is_in_one_sum_with_its_own_sign(count: int, sums: int) -> None:
    numbers = torch.randn(count, generator=torch.Generator().manual_seed(0))
    expected = np.zeros(sums)
    np.add.at(expected, np.arange(count) % sums, drawn(count) * numbers.numpy())
    assert signed_sums(numbers, np.random.PCG64(1), sums) == pytest.approx(expected, abs=1e-4)


def test_neither_the_form_nor_the_type_of_the_numbers_matters() -> None:
    numbers = torch.randn(40, 50, generator=torch.Generator().manual_seed(0)).bfloat16()
    whole = signed_sums(numbers.flatten().float(), np.random.PCG64(1), 16)
    assert np.array_equal(signed_sums(numbers, np.random.PCG64(1), 16), whole)


def test_its_norm_is_about_that_of_the_vector_also_where_one_number_is_all_of_it() -> None:
    noise, single = torch.randn(10_000, generator=torch.Generator().manual_seed(0)), torch.zeros(10_000)
    single[7777] = -3e14
    for vector in (noise, single):
        norm = float(np.linalg.norm(signed_sums(vector, np.random.PCG64(1), 128)))
        assert norm == pytest.approx(float(vector.double().norm()), rel=0.2)


def test_distances_between_sums_are_those_between_vectors_give_or_take_some() -> None:
    one, other = torch.randn(2, 100_003, generator=torch.Generator().manual_seed(0))
    sums = [sums_of(enumerate(vector.split([60_000, 40_003])), SEED, 0) for vector in (one, other)]
    assert np.linalg.norm(sums[0] - sums[1]) == pytest.approx(float((one - other).norm()), rel=0.6)


def test_parts_that_come_in_another_order_have_the_same_sums() -> None:
    parts = list(enumerate(torch.randn(3, 50)))
    assert np.allclose(sums_of(parts, SEED, 1), sums_of(reversed(parts), SEED, 1))
    assert not np.allclose(sums_of(parts, SEED, 1), sums_of(parts, SEED, 2))
