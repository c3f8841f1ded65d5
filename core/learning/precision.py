"""Mixed precision (Micikevicius et al. 2018): matrix products of half the bits, parameters and gradients of float32.

Each peer chooses by its own device. Who computes another peer's gradients again does so in float32: rounding to half
the bits moves a gradient by about a hundredth of its norm, and what differs by a fifth is another gradient.
"""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

_TENSOR_CORES = (7, 0)
"""Compute capability of cards on which float16 is faster."""


def half_precision_of(device: torch.device) -> torch.dtype | None:
    """The type of half the bits in which the device is faster; None: it is not."""
    if device.type != "cuda":
        return torch.bfloat16 if torch.cpu.get_capabilities().get("amx_bf16") else None
    if torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.bfloat16
    return torch.float16 if torch.cuda.get_device_capability(device) >= _TENSOR_CORES else None


class MixedPrecision:
    """The passes of one model; float32 without a type of `half` the bits."""

    def __init__(
        self, parameters: Iterable[torch.nn.Parameter], device: torch.device, half: torch.dtype | None = None
    ) -> None:
        self._device, self._half = device.type, half
        # The small gradients of float16 need it: it scales the loss.
        self._scaler = torch.amp.GradScaler(self._device, enabled=half is torch.float16)
        self._gradients = _Gradients(parameters)

    def forward(self) -> AbstractContextManager[Any]:
        """A context for the forward pass."""
        return torch.autocast(self._device, dtype=self._half) if self._half is not None else nullcontext()

    def backward(self, loss: torch.Tensor) -> bool:
        """Compute the gradients. False if they are too large for float16; the next ones are scaled less.

        A model for which no scale will do goes on in float32.
        """
        if not self._scaler.is_enabled():
            loss.backward()
            return True
        scale = self._scaler.get_scale()
        self._scaler.scale(loss).backward()
        self._scaler.unscale_(self._gradients)
        self._scaler.step(self._gradients)
        self._scaler.update()
        if self._scaler.get_scale() < 1:
            self._half, self._scaler = None, torch.amp.GradScaler(self._device, enabled=False)
            return False
        return self._scaler.get_scale() >= scale


class _Gradients(torch.optim.Optimizer):
    """What torch's scaler knows the gradients by. The collaboration makes the steps."""

    def __init__(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        super().__init__(parameters, {})

    def step(self, closure: object = None) -> None:  # type: ignore[override]  # nothing is evaluated
        """Nothing."""
