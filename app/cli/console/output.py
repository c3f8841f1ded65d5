"""What the command line prints: JSON for scripts, tables for people. Rich and json are imported where they are used."""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from app.cli.console import layout
from app.text import messages, reasons
from app.text.i18n import tr, translate
from core.api.reasons import Reason
from core.api.snapshot import Snapshot

if TYPE_CHECKING:
    from rich.console import Console

_WIDE = 250
READABLE = 80
_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
_BOLD = "1"
_BETWEEN = 2
"""Spaces between two columns."""


def no_machines() -> str:
    return tr("There are no other machines: `idlehive remote add NAME ssh://HOST` adds one.")


def printable(text: str) -> str:
    """Text from the network without the characters that control a terminal; joiners belong to words of Bengali."""
    return "".join(letter if letter.isprintable() or letter in _JOINERS else " " for letter in text)


def say(text: str, stream: TextIO | None = None) -> None:
    """What a person reads, in lines as wide as the terminal; a pipe gets them as they are."""
    stream = stream or sys.stdout
    lines = layout.fitted(text, columns()) if stream.isatty() else [text]
    print(*lines, sep="\n", file=stream, flush=True)


def confirm(question: str) -> bool:
    """Whether the person at the terminal answers yes, in English or in their language."""
    asked = "\n".join(layout.fitted(question, columns()))
    return input(f"{asked} ").strip().lower() in {"yes", tr("yes").lower()}


def print_json(value: Any, *, one_line: bool = False) -> None:
    """A value of the contract as JSON; `one_line` for a stream of them."""
    import json

    plain = msgspec.to_builtins(value)
    print(json.dumps(plain, ensure_ascii=False, indent=None if one_line else 2), flush=one_line)


def answer(arguments: argparse.Namespace, value: Any, sentence: str) -> int:
    """Print the value with `--json`, else the sentence; the result is the exit code."""
    if arguments.json:
        print_json(value)
    else:
        say(sentence)
    return 0


def status_json(snapshot: Snapshot) -> dict[str, Any]:
    """The contract of `status --json`. Without an engine nobody knows the limits that apply: they are empty."""
    plain: dict[str, Any] = msgspec.to_builtins(snapshot)
    del plain["type"]
    plain["reasons"] = [_reason_json(reason) for reason in snapshot.reasons]
    if snapshot.silence:
        plain["silence"]["seconds"] = round(time.time() - snapshot.silence.since, 1)
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
    """Rich's console."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, width=columns(), soft_wrap=True)


def columns() -> int:
    """Places in a line of the terminal; a pipe is wide, so that `grep` sees whole rows."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDE


def print_table(
    columns_: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    total: Sequence[str] | None = None,
    by_use: Sequence[str] = (),
) -> None:
    """Rows under a heading; columns whose name starts with `>` are numbers, set to the right.

    `by_use` names columns, the most useful first: where there is no room for all, they are left out from its end.
    """
    titles = [translate(column.lstrip(">")) for column in columns_]
    filled = [titles, *rows, *([total] if total else [])]
    shown = fitting(columns_, filled, by_use, columns())
    widths = _widths(columns_, filled, shown)
    for number, row in enumerate(filled):
        is_heading = number == 0 or (total is not None and number == len(filled) - 1)
        for line in _lines(columns_, row, widths):
            print(styled(line, _BOLD) if is_heading else line)
    if left_out := [title for number, title in enumerate(titles) if number not in shown]:
        also = tr("A wider terminal, and --json, show also: {columns}.", columns=", ".join(left_out))
        print("", *layout.wrapped(also, columns()), sep="\n")


def fitting(columns: Sequence[str], rows: Sequence[Sequence[str]], by_use: Sequence[str], width: int) -> list[int]:
    """The numbers of the columns that fit into `width` as they are. Pure."""
    names = [column.lstrip(">") for column in columns]
    widths = [max(layout.width(row[number]) for row in rows) for number in range(len(names))]
    shown = list(range(len(columns)))
    for name in reversed(by_use):
        if sum(widths[number] for number in shown) + _BETWEEN * (len(shown) - 1) <= width:
            break
        shown.remove(names.index(name))
    return shown


def _widths(columns_: Sequence[str], rows: Sequence[Sequence[str]], shown: Sequence[int]) -> dict[int, int]:
    """Of each column that is shown; the widest of those with words gives way where there is no room for all."""
    widths = {number: max(layout.width(row[number]) for row in rows) for number in shown}
    words = [number for number in shown if number and not columns_[number].startswith(">")]
    excess = sum(widths.values()) + _BETWEEN * (len(shown) - 1) - columns()
    if words and excess > 0:
        widest = max(words, key=lambda number: widths[number])
        widths[widest] = max(1, widths[widest] - excess)
    return widths


def _lines(columns_: Sequence[str], row: Sequence[str], widths: Mapping[int, int]) -> list[str]:
    """A row, with a line more for each that one of its cells needs."""
    cut = [layout.wrapped(row[number], width) for number, width in widths.items()]
    return [_line(columns_, parts, widths) for parts in zip_longest(*cut, fillvalue="")]


def _line(columns_: Sequence[str], parts: Sequence[str], widths: Mapping[int, int]) -> str:
    sides = [(columns_[number].startswith(">"), width) for number, width in widths.items()]
    padded = (layout.padded(part, width, right=right) for part, (right, width) in zip(parts, sides, strict=True))
    return (" " * _BETWEEN).join(padded).rstrip()


def wrapped(text: str, indent: int) -> list[str]:
    """Lines as wide as is read with ease."""
    return [" " * indent + line for line in layout.wrapped(text, min(columns(), READABLE) - indent)]


def styled(text: str, code: str) -> str:
    """Text in a colour or style (SGR code of ECMA-48), if this is a terminal and colours are wanted (no-color.org)."""
    return f"\x1b[{code}m{text}\x1b[0m" if is_terminal() and not os.environ.get("NO_COLOR") else text


def is_terminal() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
