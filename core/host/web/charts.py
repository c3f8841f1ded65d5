"""Line charts for the page, which draws them as inline SVG without scripts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

WIDTH, HEIGHT, MARGIN = 640, 240, 40
_MOST_POINTS = 400

Points = Sequence[tuple[float, float]]


class Line(NamedTuple):
    name: str
    colour: str
    """CSS class."""
    points: Points


@dataclass(frozen=True)
class Chart:
    """Lines with one x range, in the drawing's coordinates; without any, nothing is drawn."""

    lines: list[Line]
    low: float = 0.0
    high: float = 0.0


def chart(*lines: Line, from_zero: bool = False) -> Chart:
    """Place the lines on a drawing of `WIDTH` by `HEIGHT`."""
    every = [point for line in lines for point in line.points]
    if not every:
        return Chart([])
    xs, ys = [x for x, _ in every], [y for _, y in every]
    left, right, low, high = min(xs), max(xs), 0.0 if from_zero else min(ys), max(ys)

    def place(x: float, y: float) -> tuple[float, float]:
        across = MARGIN + (x - left) / (right - left or 1) * (WIDTH - MARGIN - 8)
        up = HEIGHT - MARGIN - (y - low) / (high - low or 1) * (HEIGHT - 2 * MARGIN)
        return round(across, 1), round(up, 1)

    return Chart(
        [line._replace(points=[place(*point) for point in _thinned(line.points)]) for line in lines], low, high
    )


def _thinned(points: Points) -> Points:
    return points if len(points) < 2 else [*points[:: len(points) // _MOST_POINTS + 1], points[-1]]
