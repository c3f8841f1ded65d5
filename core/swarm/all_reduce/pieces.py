"""Tensors cut where the reducers' shares end.

hivemind cuts each tensor into parts of one size and gives every part to one reducer. If a share ends within a part, a
reducer gets up to half a part more or less than its bandwidth allows, and half a part is a lot of a small model.

No smaller parts for the first averages to come sooner: the centre of members is taken part by part, and
members differ more in a small part of a sparse gradient (see `centered_clip`).
"""

from collections.abc import Sequence
from itertools import accumulate

import torch


def pieces_of(tensors: Sequence[torch.Tensor], counts: Sequence[int]) -> list[Sequence[torch.Tensor]]:
    """Flat views of each tensor, none of which belongs to two reducers.

    Args:
        counts: how many values each reducer has of all tensors, in their order.
    """
    ends = sorted(set(accumulate(counts)))
    pieces = list[Sequence[torch.Tensor]]()
    begin = 0
    for tensor in tensors:
        cuts = [end - begin for end in ends if begin < end < begin + tensor.numel()]
        pieces.append(tensor.detach().view(-1).tensor_split(cuts))
        begin += tensor.numel()
    return pieces
