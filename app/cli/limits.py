"""limits: what Idlehive may use of this computer."""

import argparse
import sys
import textwrap
from getpass import getpass
from itertools import groupby
from typing import Any

import msgspec

from app.cli import programs
from app.cli.console import output
from app.cli.console.connection import ask, borrowed
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_json, add_part, add_parts, add_verb
from app.text import preferences
from app.text.formats.sentences import closed
from app.text.i18n import N_, tr
from app.text.typed import values
from core.api.errors import UsageError
from core.api.preferences.commands import ListPreferences, PreferenceInfo, ResetPreference, SetPreference
from core.api.preferences.preferences import GENTLE, PREFERENCES, preference_named
from core.api.preferences.value_types import Secret, Value, Week
from core.client.profile import Profile

_NAMES = textwrap.fill(", ".join(PREFERENCES), 79, initial_indent=" " * len("Names: ")).lstrip()

TEXT = help_text("""
What Idlehive may use of this computer. Changes apply at once.

  idlehive limits
  idlehive limits show --changed
  idlehive limits show cache_size
  idlehive limits set cache_size 20GB
  idlehive limits set threads 2               or: automatic
  idlehive limits set gentle.threads 1        in the gentle hours of the schedule
  idlehive limits reset threads               or: --all
  idlehive limits set proxy_password          asks for it
  idlehive limits programs add blender        nothing while it runs

Values are written with their unit: 20GB, 512 MiB, 1MB/s, 8 Mbit/s, 80%, 75C,
2h, 90m, 22:00, on, off, EUR. 1 kB is 1000 bytes, 1 KiB is 1024. A limit for
gentle hours applies where it is the stricter one.
Names: {names}.
""").replace("{names}", _NAMES)


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "limits", N_("show or set what Idlehive may use"), TEXT, run_show)
    add_json(parser)
    parts = add_parts(parser, "show", "set", "reset", "programs")
    show = add_part(parts, "show", N_("all limits, or one"), TEXT, run_show)
    show.add_argument("name", metavar="NAME", nargs="?")
    show.add_argument("--changed", action="store_true", help=N_("only those that differ from their defaults"))
    setting = add_part(parts, "set", N_("set one"), TEXT, run_set)
    setting.add_argument("name", metavar="NAME")
    setting.add_argument("value", metavar="VALUE", nargs="*", help=N_("with its unit: 20GB, 8 Mbit/s, 80%%"))
    reset = add_part(parts, "reset", N_("back to the default"), TEXT, run_reset)
    which = reset.add_mutually_exclusive_group(required=True)
    which.add_argument("name", metavar="NAME", nargs="?")
    which.add_argument("--all", action="store_true", help=N_("all limits; the schedule stays"))
    programs.add(parts)


def run_show(arguments: argparse.Namespace, profile: Profile) -> int:
    name = preference_named(arguments.name).name if getattr(arguments, "name", None) else None
    known = ask(profile, ListPreferences(), list[PreferenceInfo])
    if name is not None:
        info = next(info for info in known if info.name == name)
        return output.answer(arguments, as_json(info), _described(info))
    if getattr(arguments, "changed", False):
        known = [info for info in known if info.value != info.default]
    if arguments.json:
        output.print_json([as_json(info) for info in known])
    elif known:
        _print(known)
    else:
        output.say(tr("All limits have their defaults."))
    return 0


def run_set(arguments: argparse.Namespace, profile: Profile) -> int:
    declared = preference_named(arguments.name)
    value: Value
    if isinstance(declared.type, Secret):
        value = declared.type.check_secret(declared.name, _secret(arguments.value))
    elif arguments.value:
        value = declared.check(values.parse(" ".join(arguments.value), declared.type))
    else:
        raise UsageError("value_missing", name=declared.name, allowed=values.allowed(declared.type))
    return _change(arguments, profile, SetPreference(declared.name, value))


def _secret(typed: list[str]) -> str:
    """Asked for on the terminal, or a line of standard input."""
    if typed:
        raise UsageError("secret_as_argument")
    return getpass(tr("Password:") + " ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")


def run_reset(arguments: argparse.Namespace, profile: Profile) -> int:
    if not arguments.all:
        return _change(arguments, profile, ResetPreference(preference_named(arguments.name).name))
    with borrowed(profile) as engine:
        known = engine.request(ListPreferences(), list[PreferenceInfo])
        changed = [info for info in known if info.value != info.default and not isinstance(info.type, Week)]
        reset = [engine.request(ResetPreference(info.name), PreferenceInfo) for info in changed]
    names = ", ".join(info.name for info in reset)
    sentence = tr("Reset: {names}.", names=names) if reset else tr("All limits have their defaults.")
    return output.answer(arguments, [as_json(info) for info in reset], sentence)


def as_json(info: PreferenceInfo) -> dict[str, Any]:
    """One flat object: the declaration beside the values, and the cause in words."""
    declared: dict[str, Any] = msgspec.to_builtins(info.type)
    kind = declared.pop("type")
    why = preferences.cause(info.why) if info.why else None
    return {"unit": kind, **declared, **msgspec.to_builtins(info), "type": kind, "why": why}


def _described(info: PreferenceInfo) -> str:
    """One limit, a line for each thing that can be said of it."""
    words = preferences.words(info.name.removeprefix(GENTLE))
    now = preferences.applies_now(info)
    lines = (
        f"{info.name}: {words.name}",
        words.meaning,
        tr("Value: {value}", value=values.write(info.value, info.type)) + (f" ({now})" if now else ""),
        tr("Default: {value}", value=values.write(info.default, info.type)),
        tr("Allowed: {values}", values=values.allowed(info.type)),
    )
    return "\n".join(filter(None, lines))


def _change(arguments: argparse.Namespace, profile: Profile, command: SetPreference | ResetPreference) -> int:
    info = ask(profile, command, PreferenceInfo)
    changed = tr("{name} is {value}", name=info.name, value=values.write(info.value, info.type))
    sentences = filter(None, [changed, preferences.applies_now(info)])
    return output.answer(arguments, as_json(info), closed("; ".join(sentences)))


def _print(known: list[PreferenceInfo]) -> None:
    """One table for all pages, so that the columns are aligned."""
    rows: list[tuple[str, ...]] = []
    by_page = sorted(known, key=lambda info: preferences.page_order(info.page))
    for page, group in groupby(by_page, key=lambda info: info.page):
        rows += [(preferences.page_name(page), "", "", "", ""), *map(_row, group)]
    columns = (N_("limit"), ">" + N_("value"), ">" + N_("applies now"), ">" + N_("default"), N_("allowed"))
    output.print_table(columns, rows, by_use=("applies now", "default", "allowed"))


def _row(info: PreferenceInfo) -> tuple[str, ...]:
    shown = (values.write(value, info.type) for value in (info.value, info.effective, info.default))
    return ("  " + info.name, *shown, values.allowed(info.type))
