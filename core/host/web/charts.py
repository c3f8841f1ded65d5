"""Line charts as inline SVG, without scripts, in the page's light or dark colours."""

from collections.abc import Callable, Sequence

_WIDTH, _HEIGHT, _MARGIN = 640, 240, 40
_MOST_POINTS = 400

Line = tuple[str, str, Sequence[tuple[float, float]]]
"""Name, CSS class of the colour, and points."""


def chart(label: str, lines: Sequence[Line], first: str, last: str, *, from_zero: bool = False) -> str:
    """A chart of lines with one x range; `first` and `last` label its ends."""
    every = [point for _, _, points in lines for point in points]
    if not every:
        return '<p class="quiet">Nothing to draw yet.</p>'
    xs, ys = [x for x, _ in every], [y for _, y in every]
    left, right, low, high = min(xs), max(xs), 0.0 if from_zero else min(ys), max(ys)

    def place(x: float, y: float) -> str:
        across = _MARGIN + (x - left) / (right - left or 1) * (_WIDTH - _MARGIN - 8)
        up = _HEIGHT - _MARGIN - (y - low) / (high - low or 1) * (_HEIGHT - 2 * _MARGIN)
        return f"{across:.1f},{up:.1f}"

    names = [
        f'<text x="{_MARGIN + 130 * number}" y="16" class="{colour}">{name}</text>'
        for number, (name, colour, _) in enumerate(lines)
    ]
    return "\n".join(
        (
            f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">',
            *(_grid(y) for y in (_MARGIN, _HEIGHT / 2, _HEIGHT - _MARGIN)),
            *(_line(points, place, colour) for _, colour, points in lines),
            f'<text x="0" y="{_MARGIN + 4}">{high:.3g}</text><text x="0" y="{_HEIGHT - _MARGIN + 4}">{low:.3g}</text>',
            f'<text x="{_MARGIN}" y="{_HEIGHT - 14}">{first}</text>',
            f'<text x="{_WIDTH - 8}" y="{_HEIGHT - 14}" text-anchor="end">{last}</text>',
            *names,
            "</svg>",
        )
    )


def _grid(y: float) -> str:
    return f'<line x1="{_MARGIN}" x2="{_WIDTH - 8}" y1="{y:g}" y2="{y:g}" class="grid"/>'


def _line(points: Sequence[tuple[float, float]], place: Callable[[float, float], str], colour: str) -> str:
    thinned = [*points[:: len(points) // _MOST_POINTS + 1], *points[-1:]]
    if len(points) == 1:
        x, y = place(*points[0]).split(",")
        return f'<circle cx="{x}" cy="{y}" r="3" class="{colour}"/>'
    return f'<polyline points="{" ".join(place(*point) for point in thinned)}" class="{colour}"/>'
