"""Optimizers and learning-rate schedules by name, from well-kept packages."""

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch
from pytorch_optimizer.optimizer.lamb import Lamb
from torch.optim.lr_scheduler import LambdaLR

from core.api.project.manifest import Optimizer, Schedule

OptimizerFactory = Callable[[Iterable[Any]], torch.optim.Optimizer]
SchedulerFactory = Callable[[torch.optim.Optimizer], LambdaLR]


class ReferenceLamb(Lamb):
    """LAMB as in DeDLOC's runs: weight decay inside the trust ratio, parameter norm clamped only at 10 000."""

    clamp = 10_000.0

    def step(self, closure: Any = None) -> Any:
        """As Lamb's, but without the diagnostics in the state.

        They are tensors in one step and numbers in the next, while peers exchange the state as a fixed list of
        tensors.
        """
        loss = super().step(closure)
        for state in self.state.values():
            for name in ("weight_norm", "adam_norm", "trust_ratio"):
                state.pop(name, None)
        return loss


class LarcSgd(torch.optim.SGD):
    """SGD with layer-wise adaptive rates (LARC, You et al. 2017), without an upper bound for them, as SwAV uses it."""

    def __init__(self, parameters: list[Any], rate: float, momentum: float, decay: float, trust: float) -> None:
        super().__init__(parameters, rate, momentum)
        self._decay, self._trust = decay, trust

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._scale(parameter, parameter.grad)
        return super().step(closure)

    def _scale(self, parameter: torch.Tensor, gradient: torch.Tensor) -> None:
        norm, steepness = parameter.norm(), gradient.norm()
        if norm > 0 and steepness > 0:
            gradient.add_(parameter, alpha=self._decay)
            gradient.mul_(self._trust * norm / (steepness + self._decay * norm + 1e-8))


def optimizer_factory(declared: Optimizer) -> OptimizerFactory:
    """A function that makes the declared optimizer for given parameters, with its state.

    One step with learning rate 0 creates the state. Otherwise hivemind would create it by a real step with zero
    gradients, in which weight decay changes the parameters.
    """

    def make(parameters: Iterable[Any]) -> torch.optim.Optimizer:
        optimizer = _make(declared, list(parameters))
        _create_state(optimizer)
        if declared.gradient_norm is not None:
            optimizer.register_step_pre_hook(partial(_clip, declared.gradient_norm))
        return optimizer

    return make


def _make(declared: Optimizer, parameters: list[Any]) -> torch.optim.Optimizer:
    rate, decay = declared.learning_rate, declared.weight_decay
    match declared.type:
        case "lamb":
            return ReferenceLamb(
                parameters, rate, declared.betas, decay, weight_decouple=False, eps=declared.epsilon, foreach=False
            )
        case "adamw":
            return torch.optim.AdamW(parameters, rate, declared.betas, declared.epsilon, decay)
        case "sgd" if declared.trust is not None:
            return LarcSgd(parameters, rate, declared.momentum, decay, declared.trust)
        case "sgd":
            return torch.optim.SGD(parameters, rate, declared.momentum, weight_decay=decay)


@torch.no_grad()
def _create_state(optimizer: torch.optim.Optimizer) -> None:
    rates = [group["lr"] for group in optimizer.param_groups]
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    gradients = [parameter.grad for parameter in parameters]
    for group in optimizer.param_groups:
        group["lr"] = 0.0
    for parameter in parameters:
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        group["lr"] = rate
        if "step" in group:
            group["step"] = 0
    for state in optimizer.state.values():
        for value in state.values():
            if isinstance(value, torch.Tensor):
                value.zero_()


def _clip(norm: float, optimizer: torch.optim.Optimizer, _args: object, _kwargs: object) -> None:
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    torch.nn.utils.clip_grad_norm_(parameters, norm)


def learning_rate_factor(schedule: Schedule, epoch: int) -> float:
    """The factor of the base learning rate in `epoch`: warm-up, then constant, linear or cosine."""
    if epoch < schedule.warmup_epochs:
        return schedule.begin + (1 - schedule.begin) * (epoch + 1) / schedule.warmup_epochs
    if schedule.type == "constant":
        return 1.0
    left = (schedule.total_epochs - epoch) / max(1, schedule.total_epochs - schedule.warmup_epochs)
    left = min(1.0, max(0.0, left))
    if schedule.type == "cosine":
        left = (1 - math.cos(math.pi * left)) / 2
    return schedule.end + (1 - schedule.end) * left


def scheduler_factory(schedule: Schedule) -> SchedulerFactory:
    """A function that makes the schedule; hivemind advances it to the collaboration's epoch, not by local steps."""
    return lambda optimizer: LambdaLR(optimizer, partial(learning_rate_factor, schedule))
