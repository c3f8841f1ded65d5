"""Copies of parts, with few bits a number. An auditor asks for their sums."""

from collections.abc import Iterator

import torch

_LARGEST = 32_768.0
"""Of a float in 8 bits, with room above."""


class Copies:
    """Of the parts of one share. `is_coarse`: a sign, five bits of exponent and two of fraction for each number, which
    are off by a fourteenth of it in the mean; else 16 bits."""

    def __init__(self, *, is_coarse: bool) -> None:
        self._is_coarse = is_coarse
        self._parts: dict[int, tuple[torch.Tensor, float]] = {}

    def add(self, number: int, part: torch.Tensor) -> None:
        if not self._is_coarse:
            self._parts[number] = part.detach().to(torch.bfloat16, copy=True), 1.0
            return
        lowest, highest = part.aminmax() if part.numel() else (0.0, 0.0)
        scale = max(-float(lowest), float(highest)) / _LARGEST or 1.0
        self._parts[number] = (part.detach() / scale).to(torch.float8_e5m2), scale

    def by_number(self) -> Iterator[tuple[int, torch.Tensor]]:
        """One after the other, as they are needed."""
        for number, (values, scale) in self._parts.items():
            yield number, values.float() * scale
