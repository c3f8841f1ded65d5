"""A pass through a model can be watched, and ended, at its layers."""

import pytest
import torch

from core.learning.layers import LayerChecks


class Ended(Exception):
    pass


def test_a_pass_is_checked_at_each_layer_forward_and_backward() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.LayerNorm(4), torch.nn.Linear(4, 1))
    checks: list[bool] = []
    LayerChecks(model, lambda: checks.append(True))
    loss = model(torch.ones(2, 4)).sum()
    assert len(checks) == 2
    loss.backward()
    assert len(checks) == 4


def test_without_gradients_only_the_forward_pass_is_checked() -> None:
    model = torch.nn.Linear(4, 4)
    checks: list[bool] = []
    LayerChecks(model, lambda: checks.append(True))
    with torch.no_grad():
        model(torch.ones(2, 4))
    assert len(checks) == 1


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_a_pass_ends_at_the_layer_where_the_check_fails(at: int) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
    seen = 0

    def check() -> None:
        nonlocal seen
        seen += 1
        if seen == at:
            raise Ended

    LayerChecks(model, check)
    with pytest.raises(Ended):
        model(torch.ones(2, 4)).sum().backward()
    assert seen == at


def test_a_thinned_model_is_checked_at_layers_that_are_so_far_apart() -> None:
    now, seen = 0, list[bool]()

    class Slow(torch.nn.Linear):
        def forward(self, values: torch.Tensor) -> torch.Tensor:
            nonlocal now
            now += 1
            return super().forward(values)

    model = torch.nn.Sequential(*(Slow(4, 4) for _ in range(6)))
    checks = LayerChecks(model, lambda: seen.append(True), lambda: now)
    with checks.thin(3):
        model(torch.ones(2, 4)).sum().backward()
    assert len(seen) == 12, "the pass that is measured has all checks"
    seen.clear()
    model(torch.ones(2, 4)).sum().backward()
    assert len(seen) == 4


def test_a_pass_that_ended_early_thins_nothing() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
    seen: list[bool] = []
    checks = LayerChecks(model, lambda: seen.append(True))
    with pytest.raises(Ended), checks.thin(1.0):
        raise Ended
    model(torch.ones(2, 4)).sum().backward()
    assert len(seen) == 4
