"""Gradient checkpointing (Chen et al. 2016): layers keep their inputs, and are computed again in the backward pass."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint
from transformers.modeling_utils import PreTrainedModel

from core.learning.dropout import ReproducibleDropout, has_dropout


def enable_checkpointing(model: torch.nn.Module) -> None:
    """Let every layer of a model keep its inputs alone. Gradients stay the same, and a pass takes about a third longer.

    Raises:
        ValueError: the model has no layers that can, or all do already.
    """

    def contexts() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
        # The backward pass is outside of the context in which the task computes the loss.
        return nullcontext(), ReproducibleDropout() if has_dropout(model) else nullcontext()

    options: dict[str, Any] = {"use_reentrant": False, "context_fn": contexts}
    layers = list(_layers(model))
    if getattr(model, "is_activation_checkpointing", False) or any("forward" in vars(layer) for layer in layers):
        raise ValueError("gradient checkpointing is on already")
    if isinstance(model, PreTrainedModel) and model.supports_gradient_checkpointing:
        model.activation_checkpointing_enable(options)
        return
    if not layers:
        raise ValueError("no layer can be computed again")
    for layer in layers:
        layer.forward = partial(checkpoint, layer.forward, **options)


def _layers(module: torch.nn.Module) -> Iterator[torch.nn.Module]:
    """The outermost parts that are layers by the names of transformers, such as AlbertLayer, ResNetBottleNeckLayer."""
    for child in module.children():
        if type(child).__name__.endswith(("Layer", "Block")):
            yield child
        else:
            yield from _layers(child)
