"""The backbone's page for people: the project, the run's progress, who contributed how much, and how to join."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

from core.api.identity import short
from core.api.project.manifest import Manifest
from core.host.contribution_store import Entry, Presence
from core.host.curve import Point
from core.host.web.charts import chart
from core.host.web.published import RunStatus
from core.host.web.ranking import LABEL

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="30">
<title>{name}</title>
<style>
:root {{ color-scheme: light dark; --text: #1c2330; --quiet: #5b6472; --back: #f6f7f9; --card: #fff; --edge: #dfe3e9;
  --first: #1d5fd1; --second: #a85a00; }}
@media (prefers-color-scheme: dark) {{ :root {{ --text: #e7eaf0; --quiet: #9aa4b4; --back: #14171d; --card: #1d222b;
  --edge: #323945; --first: #7fb0ff; --second: #f0ac4e; }} }}
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--text); background: var(--back); }}
h1 {{ font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem; }}
h2 {{ font-size: 1.1rem; margin: 0 0 .6rem; }}
section {{ background: var(--card); border: 1px solid var(--edge); border-radius: .6rem; padding: 1rem 1.2rem;
  margin: 1rem 0; overflow-x: auto; }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: 0; }}
dt, .quiet {{ color: var(--quiet); }}
.quiet {{ font-size: .875rem; margin: .6rem 0 0; }}
dd {{ margin: 0; overflow-wrap: anywhere; }}
pre {{ background: var(--back); padding: .6rem; overflow-x: auto; border-radius: .4rem; margin: 0; }}
svg text {{ font-size: 11px; fill: var(--quiet); }}
table {{ border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }}
th {{ text-align: left; font-weight: 600; color: var(--quiet); font-size: .875rem; }}
th, td {{ padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--edge); }}
tr:last-child td {{ border-bottom: 0; }}
.number {{ text-align: right; white-space: nowrap; }}
th.number:last-child, td.number:last-child {{ padding-right: 0; }}
#leaderboard td:nth-child(2) {{ overflow-wrap: anywhere; }}
@media (max-width: 40rem) {{ #leaderboard :is(th, td):nth-child(n+5) {{ display: none; }}
  #leaderboard :is(th, td):nth-child(4) {{ padding-right: 0; }} svg text {{ font-size: 18px; }} }}
code {{ font-size: .875rem; color: var(--quiet); }}
svg {{ width: 100%; height: auto; display: block; }}
svg .grid {{ stroke: var(--edge); }}
svg polyline {{ fill: none; stroke-width: 2; stroke-linejoin: round; }}
svg polyline.first {{ stroke: var(--first); }} svg .first {{ fill: var(--first); }}
svg polyline.second {{ stroke: var(--second); }} svg .second {{ fill: var(--second); }}
svg polyline.first, svg polyline.second {{ fill: none; }}
</style>
</head>
<body>
<h1>{name}</h1>
{body}
</body>
</html>
"""


@dataclass(frozen=True)
class PageContent:
    """What the page shows in addition to the project."""

    status: RunStatus
    points: Sequence[Point]
    leaders: Sequence[Entry]
    volunteers: int
    presence: Sequence[Presence]


def render(manifest: Manifest | None, content: PageContent, host: str) -> str:
    """The page as HTML. `host` is the visitor's name for this server, for the command to join."""
    if manifest is None:
        return _PAGE.format(name="Idlehive", body="<p>The backbone is starting.</p>")
    sections = (
        f"<section>\n{_facts(manifest, content)}\n</section>",
        f"<section>\n<h2>Who gives</h2>\n{_leaderboard(content)}\n</section>",
        f"<section>\n<h2>Learning curve</h2>\n{_learning(content.points)}\n</section>",
        f"<section>\n<h2>Peers over the last days</h2>\n{_peers(content.presence)}\n</section>",
        f"<section>\n<h2>Join</h2>\n{_join(manifest, host)}\n</section>",
    )
    body = f"<p>{escape(manifest.summary)}</p>\n" + "\n".join(sections)
    return _PAGE.format(name=escape(manifest.name), body=body)


def _facts(manifest: Manifest, content: PageContent) -> str:
    facts = {
        "Organiser": manifest.organiser,
        "Licence of the result": manifest.license,
        "Run": manifest.run_id + (" (closed)" if manifest.closed else ""),
        "Epoch": f"{content.status.epoch:,}",
        "Peers": f"{content.status.peers:,}",
        "Speed": f"{content.status.samples_per_second:,.3g} samples a second",
    }
    rows = "\n".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    return f"<dl>\n{rows}\n</dl>"


def _leaderboard(content: PageContent) -> str:
    if not content.leaders:
        return '<p class="quiet">Nobody has published a contribution yet.</p>'
    heads = ("", "Volunteer", "Samples", "Share", "Rounds", "Last (UTC)")
    head = "".join(f"<th{_side(number)}>{text}</th>" for number, text in enumerate(heads))
    rows = "\n".join(_row(entry) for entry in content.leaders)
    more = content.volunteers - len(content.leaders)
    rest = f" {more:,} more are not content." if more > 0 else ""
    return (
        f'<table id="leaderboard">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n'
        f'<p class="quiet">Self-reported. {LABEL} A name is what somebody chose; the digits beside it are the '
        f"beginning of the key that signs.{rest}</p>"
    )


def _row(entry: Entry) -> str:
    key = f'<code title="{entry.volunteer}">{short(entry.volunteer)}</code>'
    # Names can be written from right to left.
    who = f"<bdi>{escape(entry.name)}</bdi> {key}" if entry.name else key
    seen = datetime.fromtimestamp(entry.last_at, UTC).strftime("%Y-%m-%d %H:%M")
    cells = (str(entry.place), who, f"{entry.samples:,}", f"{entry.share:.1%}", f"{entry.rounds:,}", seen)
    return f"<tr>{''.join(f'<td{_side(number)}>{cell}</td>' for number, cell in enumerate(cells))}</tr>"


def _side(column: int) -> str:
    return ' class="number"' if column in (2, 3, 4, 5) else ""


def _learning(points: Sequence[Point]) -> str:
    reported = [(point.epoch, point.loss) for point in points if point.loss is not None]
    measured = [(point.epoch, point.evaluation_loss) for point in points if point.evaluation_loss is not None]
    epochs = [epoch for epoch, _ in reported + measured] or [0]
    lines = (("training loss", "first", reported), ("evaluation loss", "second", measured))
    note = '<p class="quiet">The training loss is self-reported; the evaluation loss is measured by the backbone.</p>'
    drawn = chart("Loss by epoch", lines, f"epoch {min(epochs):,}", f"{max(epochs):,}") + (note if reported else "")
    figures = [(point.epoch, point.figure) for point in points if point.figure is not None]
    if not figures:
        return drawn
    epoch, figure = figures[-1]
    name = escape(figure.kind.replace("_", " "))
    return f'{drawn}<p class="quiet">On held-out data, epoch {epoch:,}: {name} {figure.value:,.2f}.</p>'


def _peers(presence: Sequence[Presence]) -> str:
    points = [(each.at, each.peers) for each in presence]
    days = [datetime.fromtimestamp(at, UTC).strftime("%d %b %H:%M") for at, _ in points] or [""]
    return chart("Peers over time", (("peers at work", "first", points),), days[0], f"{days[-1]} UTC", from_zero=True)


def _join(manifest: Manifest, host: str) -> str:
    address = f"http://{host}" if re.fullmatch(r"[A-Za-z0-9.:\[\]-]{1,255}", host) else "http://ADDRESS"
    return (
        "<p>With Idlehive installed, add the project in the window, or type:</p>\n"
        f"<pre>idlehive projects add {escape(address)}/manifest.json\nidlehive projects join {escape(manifest.id)}\n"
        f"idlehive contribute {escape(manifest.id)}</pre>"
    )
