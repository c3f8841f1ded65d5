"""A pass through a model can be watched, and ended, at its layers."""

import pytest
import torch

from core.learning.layers import check_at_layers


class Ended(Exception):
    pass


def test_a_pass_is_checked_at_each_layer_forward_and_backward() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.LayerNorm(4), torch.nn.Linear(4, 1))
    checks: list[bool] = []
    check_at_layers(model, lambda: checks.append(True))
    loss = model(torch.ones(2, 4)).sum()
    assert len(checks) == 2
    loss.backward()
    assert len(checks) == 4


def test_without_gradients_only_the_forward_pass_is_checked() -> None:
    model = torch.nn.Linear(4, 4)
    checks: list[bool] = []
    check_at_layers(model, lambda: checks.append(True))
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

    check_at_layers(model, check)
    with pytest.raises(Ended):
        model(torch.ones(2, 4)).sum().backward()
    assert seen == at
