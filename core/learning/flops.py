"""What a computation costs: floating-point operations, counted while it runs.

torch's counter knows matrix products, convolutions and attention, which is all but a few per cent of a model's work;
what is element by element is not in it. A multiplication and an addition are two operations.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count


@contextmanager
def counting() -> Iterator[Callable[[], int]]:
    """Within, operations are counted; the function gives how many there were."""
    # The counter's own formulas leave out the kernel that processors use for attention.
    attention = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
    with FlopCounterMode(display=False, custom_mapping={attention: _attention, backward: _attention_backward}) as mode:
        yield mode.get_total_flops


def _attention(query: Any, key: Any, value: Any, *_: Any, **_options: Any) -> int:
    return int(sdpa_flop_count(query, key, value))


def _attention_backward(gradient: Any, query: Any, key: Any, value: Any, *_: Any, **_options: Any) -> int:
    return int(sdpa_backward_flop_count(gradient, query, key, value))
