"""Dropout that is the same wherever it is computed."""

import pytest
import torch
from torch.nn import functional

from core.learning.dropout import ReproducibleDropout, has_dropout
from core.learning.model import build_model
from tests.learning.small_project import small_manifest

SHARE = 0.1


def dropped(seed: int, device: str = "cpu", dtype: torch.dtype = torch.float32) -> torch.Tensor:
    torch.manual_seed(seed)
    with ReproducibleDropout():
        return functional.dropout(torch.ones(500, 400, device=device, dtype=dtype), SHARE) == 0


def test_the_share_is_dropped_of_every_row_and_column_and_the_rest_makes_up_for_it() -> None:
    torch.manual_seed(1)
    with ReproducibleDropout():
        values = functional.dropout(torch.ones(1000, 1000), SHARE)
    assert float(values.mean()) == pytest.approx(1, abs=0.002)
    for means in (values.mean(0), values.mean(1)):
        # The standard deviation of a mean of 1000 is 0.0105.
        assert float((means - 1).abs().max()) < 6 * 0.0105
    neighbours = ((values[:, 1:] == 0) & (values[:, :-1] == 0)).float().mean()
    assert float(neighbours) == pytest.approx(SHARE**2, rel=0.05)


def test_a_seed_always_drops_the_same_and_another_one_drops_others() -> None:
    assert dropped(1).equal(dropped(1))
    assert float((dropped(1) & dropped(2)).float().mean()) == pytest.approx(SHARE**2, rel=0.1)


def test_two_calls_drop_different_numbers() -> None:
    torch.manual_seed(1)
    with ReproducibleDropout():
        first, second = (functional.dropout(torch.ones(1000), 0.5) for _ in range(2))
    assert not first.equal(second)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_what_is_dropped_does_not_depend_on_the_precision(dtype: torch.dtype) -> None:
    assert dropped(3).equal(dropped(3, dtype=dtype))


def test_numbers_that_were_computed_by_hand_are_dropped() -> None:
    """lowbias32 in Python's integers: what any device has to give."""
    torch.manual_seed(5)
    key, mask = int(torch.randint(-(1 << 31), 1 << 31, ())), (1 << 32) - 1

    def mixed(place: int) -> int:
        value = (place + key) & mask
        value = ((value ^ value >> 16) * 0x7FEB352D) & mask
        value = ((value ^ value >> 15) * 0x846CA68B) & mask
        return (value ^ value >> 16) & 0x7FFFFFFF

    expected = [mixed(place) < int(SHARE * (2**31 - 1)) for place in range(500 * 400)]
    assert dropped(5).flatten().tolist() == expected


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_drops_what_a_processor_drops() -> None:
    assert dropped(7).equal(dropped(7, "cuda").cpu())


def test_a_share_of_one_drops_everything() -> None:
    with ReproducibleDropout():
        assert functional.dropout(torch.ones(10), 1.0).tolist() == [0.0] * 10


def test_attention_without_dropout_is_torchs_own() -> None:
    shape = (2, 3, 5, 8)
    query, key, value = (torch.randn(shape, generator=torch.Generator().manual_seed(seed)) for seed in range(3))
    mask = torch.rand(5, 5, generator=torch.Generator().manual_seed(3)) < 0.8
    mask.fill_diagonal_(True)
    for options in ({}, {"is_causal": True}, {"attn_mask": mask}, {"attn_mask": mask.float()}, {"scale": 0.3}):
        expected = functional.scaled_dot_product_attention(query, key, value, **options)
        with ReproducibleDropout():
            # Such a small share drops nothing.
            found = functional.scaled_dot_product_attention(query, key, value, dropout_p=1e-12, **options)
        torch.testing.assert_close(found, expected)


def test_a_model_with_dropout_has_the_same_gradient_for_the_same_seed_only() -> None:
    model = build_model(small_manifest(hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1)).train()
    assert has_dropout(model)

    def gradient(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        model.zero_grad()
        with ReproducibleDropout():
            tokens = torch.arange(32).view(2, 16)
            model(input_ids=tokens, labels=tokens).loss.backward()
        return torch.cat([value.grad.flatten() for value in model.parameters() if value.grad is not None])

    torch.testing.assert_close(gradient(1), gradient(1))
    assert float(torch.dist(gradient(1), gradient(2)) / gradient(1).norm()) > 0.05


def test_a_model_without_dropout_is_known_as_such() -> None:
    assert not has_dropout(build_model(small_manifest()))
    assert has_dropout(build_model(small_manifest(attention_probs_dropout_prob=0.1)))
