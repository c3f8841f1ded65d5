"""Arithmetic of charts: axes with round numbers, and long curves thinned to the width of a screen."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from app.text.formats import numbers
from core.api.project.projects import CurvePoint

_FACTORS = (0.1, 0.2, 0.5, 1, 2, 5, 10)


class Ticks(NamedTuple):
    values: list[float]
    step: float
    """Between neighbours."""

    def text(self, value: float) -> str:
        """A tick with as many decimals as the step needs."""
        return numbers.decimal(value, max(0, -math.floor(math.log10(self.step) + 1e-9)))


def ticks(lowest: float, highest: float, most: int) -> Ticks:
    """About `most` round numbers (1, 2 or 5 times a power of ten apart) within a range (Heckbert 1990).

    At least two, since one alone is no scale: where they would not be, the step is the next finer one.
    """
    if not highest > lowest or most < 2:
        return Ticks([lowest], 1.0)
    rough = (highest - lowest) / (most - 1)
    power = 10 ** math.floor(math.log10(rough))
    coarsest = next(place for place, factor in enumerate(_FACTORS) if factor * power >= rough * 0.999)
    every = (_within(lowest, highest, factor * power) for factor in reversed(_FACTORS[: coarsest + 1]))
    return next(found for found in every if len(found.values) >= 2)


def _within(lowest: float, highest: float, step: float) -> Ticks:
    first = math.ceil(lowest / step - 1e-9)
    return Ticks([number * step for number in range(first, math.floor(highest / step + 1e-9) + 1)], step)


def whole_ticks(lowest: int, highest: int, most: int) -> list[int]:
    """Round whole numbers for an axis of epochs."""
    return sorted({round(tick) for tick in ticks(lowest, highest, most).values if abs(tick - round(tick)) < 1e-6})


def value_range(points: Sequence[CurvePoint]) -> tuple[float, float] | None:
    """The lowest and highest loss of both kinds with a small margin, None without any."""
    values = [
        loss
        for point in points
        for loss in (point.loss, point.evaluation_loss)
        if loss is not None and math.isfinite(loss)
    ]
    if not values:
        return None
    margin = (max(values) - min(values)) * 0.06 or abs(values[0]) * 0.05 or 1.0
    return min(values) - margin, max(values) + margin


def thinned(points: Sequence[CurvePoint], most: int) -> list[CurvePoint]:
    """At most `most` points: neighbours become one, with the mean loss, the last evaluation, the sum of own samples."""
    size = math.ceil(len(points) / max(1, most))
    if size <= 1:
        return list(points)
    return [_merged(points[start : start + size]) for start in range(0, len(points), size)]


def _merged(points: Sequence[CurvePoint]) -> CurvePoint:
    losses = [point.loss for point in points if point.loss is not None]
    evaluations = [point.evaluation_loss for point in points if point.evaluation_loss is not None]
    return CurvePoint(
        epoch=points[-1].epoch,
        loss=sum(losses) / len(losses) if losses else None,
        evaluation_loss=evaluations[-1] if evaluations else None,
        own_samples=sum(point.own_samples for point in points),
        peers=points[-1].peers,
        at=points[-1].at,
    )
