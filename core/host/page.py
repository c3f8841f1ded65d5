"""The backbone's page for people: what the project is, how the run stands, and how to join."""

import re
from collections.abc import Callable, Sequence
from html import escape

from core.api.manifest import Manifest
from core.host.curve import Point

_WIDTH, _HEIGHT, _MARGIN = 640, 240, 40
_MOST_POINTS = 400
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="30">
<title>{name}</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }}
dd {{ margin: 0; }}
pre {{ background: #8882; padding: .6rem; overflow-x: auto; }}
svg {{ width: 100%; height: auto; }}
svg text {{ font-size: 11px; fill: currentColor; }}
:root {{ color-scheme: light dark; }}
</style>
</head>
<body>
<h1>{name}</h1>
{body}
</body>
</html>
"""


def render(manifest: Manifest | None, epoch: int, peers: int, points: Sequence[Point], host: str) -> str:
    """The page as HTML. `host` is what the visitor calls this server; it stands in the line that joins."""
    if manifest is None:
        return _PAGE.format(name="Idlehive", body="<p>The backbone is starting.</p>")
    facts = {
        "Organiser": manifest.organiser,
        "Licence of the result": manifest.license,
        "Run": manifest.run_id + (" (closed)" if manifest.closed else ""),
        "Epoch": f"{epoch:,}",
        "Peers": f"{peers:,}",
    }
    rows = "\n".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    address = f"http://{host}" if re.fullmatch(r"[A-Za-z0-9.:\[\]-]{1,255}", host) else "http://ADDRESS"
    body = (
        f"<p>{escape(manifest.summary)}</p>\n<dl>\n{rows}\n</dl>\n<h2>Learning curve</h2>\n{chart(points)}\n"
        f"<h2>Join</h2>\n<p>With Idlehive installed, add the project in the window, or type:</p>\n"
        f"<pre>idlehive projects add {escape(address)}/manifest.json\nidlehive projects join {escape(manifest.id)}\n"
        f"idlehive contribute {escape(manifest.id)}</pre>"
    )
    return _PAGE.format(name=escape(manifest.name), body=body)


def chart(points: Sequence[Point]) -> str:
    """Training and evaluation loss by epoch as inline SVG."""
    told = [(point.epoch, point.loss) for point in points if point.loss is not None]
    measured = [(point.epoch, point.evaluation_loss) for point in points if point.evaluation_loss is not None]
    every = told + measured
    if not every:
        return "<p>There is no point on it yet.</p>"
    epochs, losses = [epoch for epoch, _ in every], [loss for _, loss in every]
    left, right, low, high = min(epochs), max(epochs), min(losses), max(losses)

    def place(epoch: int, loss: float) -> str:
        x = _MARGIN + (epoch - left) / (right - left or 1) * (_WIDTH - 2 * _MARGIN)
        y = _HEIGHT - _MARGIN - (loss - low) / (high - low or 1) * (_HEIGHT - 2 * _MARGIN)
        return f"{x:.1f},{y:.1f}"

    return "\n".join(
        (
            f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="Loss by epoch">',
            _line(told, place, "#3b82f6"),
            _line(measured, place, "#f59e0b"),
            f'<text x="4" y="{_MARGIN}">{high:.3g}</text><text x="4" y="{_HEIGHT - _MARGIN}">{low:.3g}</text>',
            f'<text x="{_MARGIN}" y="{_HEIGHT - 12}">epoch {left:,}</text>',
            f'<text x="{_WIDTH - _MARGIN}" y="{_HEIGHT - 12}" text-anchor="end">{right:,}</text>',
            f'<text x="{_MARGIN}" y="16" style="fill:#3b82f6">training loss</text>',
            f'<text x="{_MARGIN + 100}" y="16" style="fill:#f59e0b">evaluation loss</text>',
            "</svg>",
        )
    )


def _line(points: Sequence[tuple[int, float]], place: Callable[[int, float], str], colour: str) -> str:
    thinned = [*points[:: len(points) // _MOST_POINTS + 1], *points[-1:]]
    corners = " ".join(place(*point) for point in thinned)
    return f'<polyline points="{corners}" fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"/>'
