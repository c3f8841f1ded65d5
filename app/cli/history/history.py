"""history: what this computer has given, and the record as files."""

import argparse
import csv
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import msgspec

from app.cli.console import output
from app.cli.console.connection import borrowed
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_json, add_parts, add_verb
from app.cli.console.preferences import chosen
from app.cli.history import record_files
from app.text import history
from app.text.formats import numbers
from app.text.i18n import N_, tr
from app.text.typed import periods
from core.api.record.record import MOST_HOURS, Contribution, GetHistory, Sums, cost_of
from core.api.record.totals import GIVEN, together
from core.client.engine_client import EngineClient
from core.client.profile import Profile

TEXT = help_text("""
What this computer has given, by day and project, with totals. JSON and CSV
have one row for each session and hour; times there are UTC.

  idlehive history
  idlehive history --since 2026-01-31
  idlehive history --since 7d --csv > given.csv
  idlehive history export given.json          all of it, to import elsewhere
  idlehive history export given.csv           the same as a table, for spreadsheets
  idlehive history import given.json          duplicates count once
  idlehive history collect                    the same from all your machines
  idlehive history summary 2026.png           the year as a picture; or .svg
  idlehive history certificate given.pdf      to print
  idlehive history delete                     asks first

`accepted` counts the samples that became part of a model update. `~` marks
estimated energy. The cost is shown once `energy_price`, `currency` and
`grid_factor` are set (`idlehive limits`).
""")

_COLUMNS = (
    N_("day"), N_("project"), ">" + N_("time"), ">" + N_("samples"), ">" + N_("accepted"), ">" + N_("epochs"),
    ">" + N_("rounds"), ">" + N_("failed"), ">" + N_("CPU time"), ">" + N_("GPU time"), ">" + N_("work"),
    ">" + N_("energy"), ">" + N_("sent"), ">" + N_("received"),
)  # fmt: skip
_BY_USE = (
    "time", "samples", "epochs", "energy", "received", "sent", "accepted", "work", "rounds", "GPU time", "CPU time",
    "failed",
)  # fmt: skip


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "history", N_("what this computer has given"), TEXT, run)
    parser.add_argument(
        "--since", metavar="DATE", help=N_("2026-01-31, today, yesterday, or 7d for the last seven days")
    )
    form = parser.add_mutually_exclusive_group()
    add_json(form)
    form.add_argument("--csv", action="store_true", help=N_("print comma-separated values, for spreadsheets"))
    record_files.add(add_parts(parser, "export", "import", "collect", "summary", "certificate", "delete"), TEXT)


def run(arguments: argparse.Namespace, profile: Profile) -> int:
    since = periods.parse_since(arguments.since, datetime.now().astimezone()) if arguments.since else None
    with borrowed(profile) as engine:
        pages = _pages(engine, since.timestamp() if since else None)
        if arguments.csv:
            _print_csv(pages)
            return 0
        rows = [row for page in pages for row in page]
        preferences = chosen(engine)
    totals = together(Sums(), rows)
    cost = cost_of(totals, preferences)
    if arguments.json:
        output.print_json({"contributions": rows, "totals": totals, "cost": cost})
    else:
        _print_table(rows, history.cost(cost))
    return 0


def by_day(rows: Iterable[Contribution]) -> list[tuple[str, str, Sums]]:
    """Day (local), project and sums, oldest first."""
    groups: dict[tuple[str, str], list[Contribution]] = defaultdict(list)
    for row in rows:
        groups[f"{datetime.fromtimestamp(row.hour).astimezone():%Y-%m-%d}", row.project].append(row)
    return [(day, project, together(Sums(), group)) for (day, project), group in sorted(groups.items())]


def _pages(engine: EngineClient, since: float | None) -> Iterator[list[Contribution]]:
    after = None
    while page := engine.request(GetHistory(since, after), list[Contribution]):
        yield page
        if len(page) < MOST_HOURS:
            return
        after = page[-1].hour, page[-1].session


def _print_table(rows: list[Contribution], cost: str) -> None:
    if not rows:
        output.say(tr("There is no history yet."))
        return
    days = [(day, output.printable(project), *_cells(sums)) for day, project, sums in by_day(rows)]
    output.print_table(_COLUMNS, days, total=(tr("total"), "", *_cells(together(Sums(), rows))), by_use=_BY_USE)
    if cost:
        output.say("\n" + tr("Its energy cost {cost}, by your own figures.", cost=cost))


def _cells(sums: Sums) -> tuple[str, ...]:
    counts = (sums.samples, sums.accepted, sums.epochs, sums.rounds, sums.failed_rounds)
    return (
        numbers.duration(sums.seconds),
        *("-" if number is None else numbers.count(number) for number in counts),
        numbers.duration(sums.cpu_seconds),
        numbers.duration(sums.gpu_seconds),
        numbers.work(sums.flops) if sums.flops else "-",
        _energy(sums),
        numbers.size(sums.uploaded),
        numbers.size(sums.downloaded),
    )


def _energy(sums: Sums) -> str:
    if sums.energy is None:
        return "-"
    return f"{'~' if sums.estimated_joules else ''}{numbers.energy(sums.energy)}"


def _print_csv(pages: Iterable[list[Contribution]]) -> None:
    writer = csv.DictWriter(sys.stdout, ("session", "project", "hour", *GIVEN), lineterminator="\n")
    writer.writeheader()
    for page in pages:
        for row in page:
            hour = datetime.fromtimestamp(row.hour, UTC)
            writer.writerow({**msgspec.to_builtins(row), "hour": f"{hour:%Y-%m-%dT%H:%M:%SZ}"})
