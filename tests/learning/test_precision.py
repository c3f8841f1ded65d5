"""Mixed precision: gradients near those of float32, also where float16 alone would lose or overflow them."""

import pytest
import torch

from core.learning.precision import MixedPrecision, half_precision_of

CPU = torch.device("cpu")


def gradients(half: torch.dtype | None, values: torch.Tensor, factor: float = 1.0) -> list[torch.Tensor]:
    """Of two layers, whose loss is multiplied; float16 repeats a pass with another scale where it overflows."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 1))
    precision = MixedPrecision(model.parameters(), CPU, half)
    while True:
        with precision.forward():
            loss = model(values).float().square().mean() * factor
        if precision.backward(loss):
            break
        model.zero_grad()
    return [parameter.grad for parameter in model.parameters() if parameter.grad is not None]


@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e4])
def test_gradients_are_those_of_float32_but_for_rounding(half: torch.dtype, factor: float) -> None:
    values = torch.randn(16, 32, generator=torch.Generator().manual_seed(1))
    expected, found = gradients(None, values, factor), gradients(half, values, factor)
    assert all(gradient.dtype == torch.float32 for gradient in found)
    one, other = (torch.cat([gradient.flatten() for gradient in of]) for of in (expected, found))
    assert not torch.equal(one, other), "products of half the bits round"
    assert float((one - other).norm() / one.norm()) < 0.02


def test_without_a_scale_float16_would_lose_small_gradients() -> None:
    values = torch.randn(16, 32)
    with torch.autocast("cpu", dtype=torch.float16):
        weight = torch.zeros(32, 1, requires_grad=True)
        ((values @ weight).float() - 1e-9).square().mean().backward()
    assert weight.grad is not None
    assert not weight.grad.any()


def test_what_no_scale_makes_fit_is_computed_in_float32() -> None:
    weight = torch.nn.Parameter(torch.full((8, 1), 1e5))
    precision = MixedPrecision([weight], CPU, torch.float16)
    tries = 0
    while True:
        tries += 1
        with precision.forward():
            loss = (torch.ones(4, 8) @ weight).float().square().mean()
        if precision.backward(loss):
            break
        weight.grad = None
    assert weight.grad is not None
    assert weight.grad.isfinite().all()
    assert loss.isfinite()
    assert tries < 30


def test_a_processor_has_the_type_that_it_is_faster_with() -> None:
    has_it = bool(torch.cpu.get_capabilities().get("amx_bf16"))
    assert half_precision_of(CPU) == (torch.bfloat16 if has_it else None)


@pytest.mark.parametrize(
    ("native", "capability", "half"),
    [(True, (8, 0), torch.bfloat16), (False, (7, 5), torch.float16), (False, (6, 1), None)],
    ids=["Ampere", "Turing", "Pascal"],
)
def test_a_card_has_its_own(
    monkeypatch: pytest.MonkeyPatch, native: bool, capability: tuple[int, int], half: torch.dtype | None
) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: native)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _device: capability)
    assert half_precision_of(torch.device("cuda")) == half
