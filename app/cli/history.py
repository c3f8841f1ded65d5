"""history: what this computer has given."""

import argparse
import csv
import sys
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from app.cli import output, units, words
from app.cli.connection import borrowed
from app.cli.parser import Verbs, add_json, add_verb
from core.api.home import Home
from core.api.messages import Contribution, GetHistory

TEXT = """
What this computer has given, by day and project, with totals. JSON and CSV
have one row for each session and hour; times there are UTC.

  idlehive history
  idlehive history --since 2026-01-31
  idlehive history --since 7d --csv > given.csv
"""

_COLUMNS = (
    "day",
    "project",
    ">time",
    ">samples",
    ">epochs",
    ">rounds",
    ">failed",
    ">GPU time",
    ">energy",
    ">sent",
    ">received",
)


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "history", "what this computer has given", TEXT, run)
    parser.add_argument("--since", metavar="DATE", help="2026-01-31, today, yesterday, or 7d for the last seven days")
    form = parser.add_mutually_exclusive_group()
    add_json(form)
    form.add_argument("--csv", action="store_true", help="print comma-separated values, for spreadsheets")


def run(arguments: argparse.Namespace, home: Home) -> int:
    since = units.parse_since(arguments.since, datetime.now().astimezone()) if arguments.since else None
    with borrowed(home) as engine:
        rows = engine.request(GetHistory(since.timestamp() if since else None), list[Contribution])
    if arguments.json:
        output.print_json({"contributions": rows, "totals": words.totals(rows)})
    elif arguments.csv:
        _print_csv(rows)
    else:
        _print_table(rows)
    return 0


def by_day(rows: Iterable[Contribution]) -> list[tuple[str, str, dict[str, float]]]:
    """Day (local), project and sums, oldest first."""
    groups: dict[tuple[str, str], list[Contribution]] = defaultdict(list)
    for row in rows:
        groups[f"{datetime.fromtimestamp(row.hour).astimezone():%Y-%m-%d}", row.project].append(row)
    return [(day, project, words.totals(group)) for (day, project), group in sorted(groups.items())]


def _print_table(rows: list[Contribution]) -> None:
    if not rows:
        print("Nothing was given yet.")
        return
    days = [(day, words.clean(project), *_cells(sums)) for day, project, sums in by_day(rows)]
    output.print_table(_COLUMNS, days, total=("total", "", *_cells(words.totals(rows))))


def _cells(sums: dict[str, float]) -> tuple[str, ...]:
    return (
        words.duration(sums["seconds"]),
        *(f"{int(sums[name]):,}" for name in ("samples", "epochs", "rounds", "failed_rounds")),
        words.duration(sums["gpu_seconds"]),
        f"{sums['joules'] / 3_600_000:.2f} kWh" if sums["joules"] else "-",
        words.size(sums["uploaded"]),
        words.size(sums["downloaded"]),
    )


def _print_csv(rows: list[Contribution]) -> None:
    writer = csv.DictWriter(sys.stdout, Contribution.__struct_fields__, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        hour = datetime.fromtimestamp(row.hour, UTC)
        writer.writerow({**msgspec.to_builtins(row), "hour": f"{hour:%Y-%m-%dT%H:%M:%SZ}"})
