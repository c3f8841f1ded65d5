"""Sums of a vector's numbers with random signs: a few numbers that stand for all of them.

Distances between the sums of vectors are those between the vectors, give or take about 1/√(2 × sums), whatever the
vectors are, if nobody knows the signs before (AMS sketches: Alon, Matias and Szegedy 1996).
"""

import numpy as np
import torch

_SIGNS = 1 - 2 * np.unpackbits(np.arange(256, dtype=np.uint8)).reshape(256, 8).astype(np.float32)
"""Of the bits of a byte: to look them up is three times as quick as to compute them."""
_ROW = 4096
"""Numbers in a row of a table whose columns are added first. All counts of sums divide it."""


def signed_sums(numbers: torch.Tensor, signs: np.random.PCG64, sums: int) -> np.ndarray:
    """Number i is in sum i mod `sums`, which has to divide 4096.

    Parameters:
        numbers: of any shape.
        signs: the source of their signs, a bit for each.
    """
    count = numbers.numel()
    drawn = _SIGNS.take(signs.random_raw(-(-count // 64)).view(np.uint8), axis=0).reshape(-1)[:count]
    drawn *= numbers.detach().flatten().float().numpy()
    whole = count - count % _ROW
    columns = drawn[:whole].reshape(-1, _ROW).sum(0)
    columns[: count - whole] += drawn[whole:]
    added: np.ndarray = columns.reshape(-1, sums).sum(0, dtype=np.float64)
    return added
