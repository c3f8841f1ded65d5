"""Dropout (Srivastava et al. 2014) that anybody can compute again; torch's own depends on the kind of device.

Which numbers are dropped follows from torch's CPU generator, which gives a key for each call, and from each number's
place: a hash of both (lowbias32, Wellons 2018) in integers of 32 bits, which are the same everywhere.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

_STEPS = ((16, 0x7FEB352D), (15, 0x846CA68B))
_BITS = 31
"""Of a hash that are compared with the share."""
_known = WeakKeyDictionary[torch.nn.Module, bool]()
"""Whether a model has dropout: it is asked in each microbatch, and keeps what it is built with."""


class ReproducibleDropout(TorchFunctionMode):
    """In place of torch's, as a module, as a function, or within attention, while it is entered."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Collection[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func is functional.dropout:
            return _dropout(*args, **(kwargs or {}))
        if func is functional.scaled_dot_product_attention and (kwargs or {}).get("dropout_p"):
            return _attention(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


def has_dropout(model: torch.nn.Module) -> bool:
    """Whether the same samples give several gradients."""
    if model not in _known:
        _known[model] = _finds_dropout(model)
    return _known[model]


def _finds_dropout(model: torch.nn.Module) -> bool:
    # Attention often has its share in the configuration alone.
    config = vars(model.config) if hasattr(model, "config") else {}
    shares = [value for name, value in config.items() if "att" in name and "drop" in name and isinstance(value, float)]
    modules = [module.p for module in model.modules() if isinstance(module, torch.nn.Dropout)]
    return any(share > 0 for share in (*shares, *modules))


def _dropout(values: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> torch.Tensor:
    if not training or p == 0:
        return values
    dropped = _dropped(values.shape, p, values.device)
    return (values.mul_ if inplace else values.mul)(1 / (1 - p) if p < 1 else 0).masked_fill(dropped, 0)


def _dropped(shape: torch.Size, p: float, device: torch.device) -> torch.Tensor:
    key = int(torch.randint(-(1 << 31), 1 << 31, ()))
    places = torch.arange(shape.numel(), dtype=torch.int32, device=device)
    return (_hashed(places.add_(key)) < int(p * ((1 << _BITS) - 1))).view(shape)


def _hashed(values: torch.Tensor) -> torch.Tensor:
    """`_BITS` bits of each, in place."""
    for shift, factor in _STEPS:
        values.bitwise_xor_(_shifted(values, shift)).mul_(factor - (factor >> 31 << 32))
    return values.bitwise_xor_(_shifted(values, 16)).bitwise_and_((1 << _BITS) - 1)


def _shifted(values: torch.Tensor, bits: int) -> torch.Tensor:
    """To the right, without copies of the sign."""
    return (values >> bits).bitwise_and_((1 << (32 - bits)) - 1)


def _attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    *,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """What torch's documentation gives as the meaning of `scaled_dot_product_attention`."""
    if enable_gqa:
        key, value = (heads.repeat_interleave(query.size(-3) // heads.size(-3), -3) for heads in (key, value))
    scores = query @ key.transpose(-2, -1) * (scale if scale is not None else query.size(-1) ** -0.5)
    if is_causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(later, float("-inf"))
    if attn_mask is not None:
        is_choice = attn_mask.dtype == torch.bool
        scores = scores.masked_fill(~attn_mask, float("-inf")) if is_choice else scores + attn_mask
    return _dropout(scores.softmax(-1), dropout_p) @ value
