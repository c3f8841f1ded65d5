"""limits: what Idlehive may use of this computer."""

import argparse
import textwrap

from app.cli import programs
from app.cli.console import output
from app.cli.console.connection import borrowed
from app.cli.console.parser import Parser, Verbs, add_json, add_verb
from app.text import units
from core.api.preferences.limits import LimitInfo, ResetLimit, SetLimit, ShowLimits
from core.api.preferences.preferences import PREFERENCES, preference_named
from core.client.profile import Profile

_NAMES = textwrap.fill(", ".join(PREFERENCES), 79, initial_indent=" " * len("Names: ")).lstrip()
_PAGES = {
    "processor": "Processor and memory",
    "gpu": "Graphics card",
    "network": "Network",
    "presence": "While you use the computer",
    "storage": "Disk",
    "privacy": "What others see",
    "energy": "Electricity",
}

TEXT = f"""
What Idlehive may use of this computer. Changes count at once.

  idlehive limits
  idlehive limits set cache_size 20GB
  idlehive limits set threads 2               or: automatic
  idlehive limits set gentle.threads 1        in the gentle hours of the schedule
  idlehive limits reset threads
  idlehive limits programs add blender        nothing while it runs

Values are written with their unit: 20GB, 512 MiB, 1MB/s, 8 Mbit/s, 80%, 75C,
2h, 90m, 22:00, on, off. 1 kB is 1000 bytes, 1 KiB is 1024. A limit for gentle
hours counts where it is the stricter one.
Names: {_NAMES}.
"""


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "limits", "show or set what Idlehive may use", TEXT, run_show)
    add_json(parser)
    parts = parser.add_subparsers(metavar="show|set|reset|programs", title="what to do", parser_class=Parser)
    show = add_verb(parts, "show", "all limits", TEXT, run_show)
    setting = add_verb(parts, "set", "set one", TEXT, run_set)
    setting.add_argument("name", metavar="NAME")
    setting.add_argument("value", metavar="VALUE", nargs="+", help="with its unit: 20GB, 8 Mbit/s, 80%%")
    reset = add_verb(parts, "reset", "back to what Idlehive comes with", TEXT, run_reset)
    reset.add_argument("name", metavar="NAME")
    for part in (show, setting, reset):
        add_json(part, again=True)
    programs.add(parts)


def run_show(arguments: argparse.Namespace, profile: Profile) -> int:
    with borrowed(profile) as engine:
        limits = engine.request(ShowLimits(), list[LimitInfo])
    if arguments.json:
        output.print_json(limits)
    else:
        _print(limits)
    return 0


def run_set(arguments: argparse.Namespace, profile: Profile) -> int:
    declared = preference_named(arguments.name)
    text = " ".join(arguments.value)
    value = units.parse_in_range(text, declared)
    with borrowed(profile) as engine:
        limit = engine.request(SetLimit(declared.name, value), LimitInfo)
    return _print_answer(arguments, limit)


def run_reset(arguments: argparse.Namespace, profile: Profile) -> int:
    declared = preference_named(arguments.name)
    with borrowed(profile) as engine:
        limit = engine.request(ResetLimit(declared.name), LimitInfo)
    return _print_answer(arguments, limit)


def _print_answer(arguments: argparse.Namespace, limit: LimitInfo) -> int:
    if arguments.json:
        output.print_json(limit)
        return 0
    restricted = limit.effective != limit.value
    why = f" ({limit.why})" if limit.why else ""
    now = f"; in force now: {_value(limit, limit.effective)}{why}" if restricted else ""
    print(f"{limit.name} is {_value(limit, limit.value)}{now}.")
    return 0


def _print(limits: list[LimitInfo]) -> None:
    """One table for all pages, so that the columns stand under each other."""
    rows: list[tuple[str, ...]] = []
    pages = dict.fromkeys([*_PAGES, *(limit.page for limit in limits)])
    for page in pages:
        own = [_row(limit) for limit in limits if limit.page == page]
        rows += [(_PAGES.get(page, page), "", "", "", ""), *own] if own else []
    output.print_table(("limit", ">value", ">in force", ">default", "allowed"), rows)


def _row(limit: LimitInfo) -> tuple[str, ...]:
    return (
        "  " + limit.name,
        *(_value(limit, value) for value in (limit.value, limit.effective, limit.default)),
        units.write_range(limit),
    )


def _value(limit: LimitInfo, value: int) -> str:
    return units.write(value, limit.unit, limit.zero)
