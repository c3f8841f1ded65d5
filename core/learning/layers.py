"""Looks around inside a pass through a model, which may take a second."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch


class LayerChecks:
    """Calls `check` after each layer that multiplies by weights, forward and backward. An error that it raises ends the
    pass; gradients are then incomplete.

    On a GPU the pass is ahead of what is computed, which goes on to the end of what is queued.
    """

    def __init__(
        self, model: torch.nn.Module, check: Callable[[], None], clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._clock, self._check, self._on_gradient = clock, check, lambda _gradient: check()
        self._layers = [each for each in model.modules() if any(p.dim() > 1 for p in each.parameters(recurse=False))]
        self._hooks: list[Any] = []
        self._hook(self._layers, self._after)

    @contextmanager
    def thin(self, apart: float) -> Iterator[None]:
        """A context for a pass with all checks: later ones have only so many that they are about `apart` seconds apart
        in the forward pass. Each takes some ten microseconds, and a small model has one every half a millisecond."""
        kept, last = set[torch.nn.Module](), self._clock()

        def after(layer: torch.nn.Module, inputs: object, output: Any) -> None:
            nonlocal last
            self._after(layer, inputs, output)
            now = self._clock()
            # A layer may be passed several times: what is kept once is checked each time.
            if layer in kept or now - last >= apart:
                kept.add(layer)
                last = now

        self._hook(self._layers, after)
        yield
        self._hook(kept, self._after)

    def _hook(self, layers: Iterable[torch.nn.Module], after: Callable[..., None]) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = [layer.register_forward_hook(after) for layer in layers]

    def _after(self, _layer: torch.nn.Module, _inputs: object, output: Any) -> None:
        self._check()
        if isinstance(output, torch.Tensor) and output.requires_grad:
            output.register_hook(self._on_gradient)
