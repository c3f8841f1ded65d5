"""What the command line prints: JSON for scripts, tables for people. Rich is imported only where it is used."""

import argparse
import json
import os
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from app.text import messages, reasons
from core.api.reasons import Reason
from core.api.snapshot import Snapshot

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_WIDE = 250
READABLE = 80
_BETWEEN = 2
"""Spaces between two columns."""
NO_MACHINES = "There are no other machines: `idlehive remote add NAME ssh://HOST` adds one."


def printable(text: str) -> str:
    """Text from the network without the characters that control a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def print_json(value: Any, *, one_line: bool = False) -> None:
    """A value of the contract as JSON; `one_line` for a stream of them."""
    plain = msgspec.to_builtins(value)
    print(json.dumps(plain, ensure_ascii=False, indent=None if one_line else 2), flush=one_line)


def answer(arguments: argparse.Namespace, value: Any, sentence: str) -> int:
    """Print the value with `--json`, else the sentence; the result is the exit code."""
    if arguments.json:
        print_json(value)
    else:
        print(sentence)
    return 0


def status_json(snapshot: Snapshot) -> dict[str, Any]:
    """The contract of `status --json`. Without an engine nobody knows the limits that apply: they are empty."""
    plain: dict[str, Any] = msgspec.to_builtins(snapshot)
    del plain["type"]
    plain["reasons"] = [_reason_json(reason) for reason in snapshot.reasons]
    plain["error"] = messages.sentence(snapshot.error) if snapshot.error else None
    settings = plain.pop("settings")
    # The contract has this switch as a number.
    settings["publish_contributions"] = int(settings["publish_contributions"])
    return {**plain, "limits": {**settings.pop("limits"), **settings} if snapshot.engine_pid else {}}


def _reason_json(reason: Reason) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(reason)
    del plain["params"]
    return plain | {"text": reasons.sentence(reason)}


def console() -> "Console":
    """Rich's console; a pipe is wide, so that `grep` sees whole rows."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else _WIDE)


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    total: Sequence[str] | None = None,
    by_use: Sequence[str] = (),
) -> None:
    """Rows under a heading; columns whose name starts with `>` are numbers, set to the right.

    `by_use` names columns, the most useful first: where there is no room for all, they are left out from its end.
    """
    from rich.table import Table

    shown = fitting(columns, [*rows, *([total] if total else [])], by_use, console().width)
    table = Table(box=None, pad_edge=False, padding=(0, 1), show_footer=total is not None)
    for number in shown:
        footer = total[number] if total else ""
        right = columns[number].startswith(">")
        is_whole = right or number == 0
        name, side = columns[number].lstrip(">"), "right" if right else "left"
        table.add_column(name, footer=footer, justify=side, no_wrap=is_whole)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(row[number] for number in shown))
    print_lines(table)
    if left_out := [column.lstrip(">") for number, column in enumerate(columns) if number not in shown]:
        also = f"A wider terminal, and --json, show also: {', '.join(left_out)}."
        print("", *textwrap.wrap(also, console().width), sep="\n")


def fitting(columns: Sequence[str], rows: Sequence[Sequence[str]], by_use: Sequence[str], width: int) -> list[int]:
    """The numbers of the columns that fit into `width` as they are; a Chinese character takes two places. Pure."""
    from rich.cells import cell_len

    names = [column.lstrip(">") for column in columns]
    widths = [max(map(cell_len, (name, *(row[number] for row in rows)))) for number, name in enumerate(names)]
    shown = list(range(len(columns)))
    for name in reversed(by_use):
        if sum(widths[number] for number in shown) + _BETWEEN * (len(shown) - 1) <= width:
            break
        shown.remove(names.index(name))
    return shown


def wrapped(text: str, indent: int) -> list[str]:
    """Lines as wide as is read with ease, in a terminal's places."""
    from rich.text import Text

    room = min(console().width, READABLE) - indent
    return [" " * indent + line.plain.rstrip() for line in Text(text).wrap(console(), room)]


def print_lines(rendered: "RenderableType") -> None:
    """Print a Rich object without the spaces that fill its lines."""
    printer = console()
    with printer.capture() as captured:
        printer.print(rendered)
    print("\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))


def is_terminal() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
