"""Looks around inside a pass through a model, which may take a second."""

from collections.abc import Callable
from typing import Any

import torch


def check_at_layers(model: torch.nn.Module, check: Callable[[], None]) -> None:
    """Call `check` after each layer that multiplies by weights, forward and backward. An error that it raises ends the
    pass; gradients are then incomplete.

    On a GPU the pass is ahead of what is computed, which goes on to the end of what is queued.
    """

    def after(_module: torch.nn.Module, _inputs: object, output: Any) -> None:
        check()
        if isinstance(output, torch.Tensor) and output.requires_grad:
            output.register_hook(lambda _gradient: check())

    for module in model.modules():
        if any(parameter.dim() > 1 for parameter in module.parameters(recurse=False)):
            module.register_forward_hook(after)
