"""Counts floating-point operations of a computation while it runs.

torch's counter includes matrix products, convolutions and attention, which are all but a few per cent of a model's
work, but no element-wise operations. A multiplication and an addition are two operations.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count


@contextmanager
def counting() -> Iterator[Callable[[], int]]:
    """Within, operations are counted; the function gives how many there were."""
    # torch has no formulas for the attention kernel of processors.
    attention = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
    mode = FlopCounterMode(display=False, custom_mapping={attention: _attention, backward: _attention_backward})
    # Its own, which counts for each module, keeps what gradient checkpointing lets go.
    mode.mod_tracker = _NoModules()  # type: ignore[assignment]  # all that is asked of it
    with mode:
        yield mode.get_total_flops


class _NoModules(nullcontext[None]):
    """All operations are those of the whole."""

    parents = frozenset({"Global"})


def _attention(query: Any, key: Any, value: Any, *_: Any, **_options: Any) -> int:
    return int(sdpa_flop_count(query, key, value))


def _attention_backward(gradient: Any, query: Any, key: Any, value: Any, *_: Any, **_options: Any) -> int:
    return int(sdpa_backward_flop_count(gradient, query, key, value))
