"""Optimizers and schedules as a manifest names them."""

import pytest
import torch
from hivemind.optim.state_averager import dump_optimizer_state
from pytorch_optimizer import Lamb

from core.api.project.manifest import Optimizer, Schedule
from core.learning.optimizers import learning_rate_factor, optimizer_factory, scheduler_factory

DECLARED = [
    Optimizer("lamb", 0.1, weight_decay=0.01, gradient_norm=1.0),
    Optimizer("adamw", 0.1, weight_decay=0.01),
    Optimizer("sgd", 0.1, weight_decay=0.01, momentum=0.9),
    Optimizer("sgd", 0.1, weight_decay=0.01, momentum=0.9, trust=0.01),
]


def layer() -> torch.nn.Linear:
    torch.manual_seed(0)
    return torch.nn.Linear(4, 4)


def descend(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    model.zero_grad()
    model(torch.ones(2, 4)).square().mean().backward()
    optimizer.step()


@pytest.mark.parametrize("declared", DECLARED, ids=lambda declared: declared.type + "-larc" * bool(declared.trust))
def test_making_the_state_moves_no_parameter(declared: Optimizer) -> None:
    model, untouched = layer(), layer()
    optimizer = optimizer_factory(declared)(model.parameters())
    assert torch.equal(model.weight, untouched.weight)
    assert all(float(value.abs().sum()) == 0 for state in optimizer.state.values() for value in state.values())


@pytest.mark.parametrize("declared", DECLARED, ids=lambda declared: declared.type + "-larc" * bool(declared.trust))
def test_the_state_has_the_same_tensors_before_and_after_steps(declared: Optimizer) -> None:
    """Peers hand it around as a row of tensors, and a newcomer expects those of its own fresh optimizer."""
    model = layer()
    optimizer = optimizer_factory(declared)(model.parameters())
    before = [tuple(tensor.shape) for tensor in dump_optimizer_state(optimizer)[1]]
    for _ in range(3):
        descend(model, optimizer)
    assert [tuple(tensor.shape) for tensor in dump_optimizer_state(optimizer)[1]] == before


def test_lamb_steps_as_its_package_does() -> None:
    model, plain = layer(), layer()
    ours = optimizer_factory(Optimizer("lamb", 0.1, weight_decay=0.01))(model.parameters())
    theirs = Lamb(plain.parameters(), 0.1, weight_decay=0.01, weight_decouple=False, eps=1e-6, foreach=False)
    for _ in range(3):
        descend(model, ours)
        descend(plain, theirs)
    assert torch.allclose(model.weight, plain.weight, atol=1e-7)
    assert not torch.allclose(model.weight, layer().weight, atol=1e-2)


def test_gradients_are_clipped_before_the_step() -> None:
    model, other = layer(), layer()
    clipped = optimizer_factory(Optimizer("sgd", 1.0, momentum=0.0, gradient_norm=0.5))(model.parameters())
    descend(model, clipped)
    moved = torch.cat([(a - b).flatten() for a, b in zip(model.parameters(), other.parameters(), strict=True)])
    assert float(moved.detach().norm()) == pytest.approx(0.5, rel=1e-4)


def test_the_rate_warms_up_and_then_falls_to_zero() -> None:
    schedule = Schedule("linear", warmup_epochs=4, total_epochs=12)
    assert [learning_rate_factor(schedule, epoch) for epoch in (0, 1, 3, 4, 8, 12, 20)] == [
        0.25, 0.5, 1.0, 1.0, 0.5, 0.0, 0.0,
    ]  # fmt: skip
    assert learning_rate_factor(Schedule("constant", warmup_epochs=2), 1000) == 1.0


def test_the_schedule_scales_the_declared_rate() -> None:
    optimizer = optimizer_factory(DECLARED[1])(layer().parameters())
    scheduler_factory(Schedule("linear", warmup_epochs=4, total_epochs=12))(optimizer)
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.025)


def test_larc_scales_the_step_of_each_tensor_by_its_norm() -> None:
    """The step is learning rate times trust times the tensor's norm, in the direction of the decayed gradient."""
    model = layer()
    optimizer = optimizer_factory(Optimizer("sgd", 2.0, weight_decay=0.1, momentum=0.0, trust=0.01))(model.parameters())
    before = model.weight.detach().clone()
    model(torch.ones(2, 4)).square().mean().backward()
    assert model.weight.grad is not None
    gradient = model.weight.grad.clone()
    optimizer.step()
    rate = 0.01 * before.norm() / (gradient.norm() + 0.1 * before.norm())
    assert torch.allclose(before - model.weight, 2.0 * rate * (gradient + 0.1 * before), atol=1e-6)


def test_larc_leaves_a_tensor_without_gradient_as_it_is() -> None:
    model = layer()
    optimizer = optimizer_factory(Optimizer("sgd", 2.0, weight_decay=0.1, trust=0.01))(model.parameters())
    model.weight.grad = torch.zeros_like(model.weight)
    optimizer.step()
    assert torch.equal(model.weight, layer().weight)


def test_the_schedule_of_swav_rises_from_its_beginning_and_falls_along_a_cosine_to_its_end() -> None:
    schedule = Schedule("cosine", begin=0.125, end=0.002, warmup_epochs=500, total_epochs=5000)
    factors = [learning_rate_factor(schedule, epoch) for epoch in (0, 250, 499, 500, 2750, 5000, 6000)]
    assert factors == pytest.approx([0.125, 0.5625, 1.0, 1.0, 0.501, 0.002, 0.002], abs=0.005)
