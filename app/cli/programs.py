"""limits programs: the programs during which nothing is contributed."""

import argparse

from app.cli.console import output
from app.cli.console.connection import borrowed
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_part, add_parts
from app.cli.console.preferences import choose, chosen
from app.text.i18n import N_, tr
from core.api.errors import UsageError
from core.api.preferences.value_types import programs
from core.client.profile import Profile

TEXT = help_text("""
Programs during which nothing is contributed, by the names of their
executables: a game, a video editor. Capitals and .exe do not matter.

  idlehive limits programs
  idlehive limits programs add blender witcher3
  idlehive limits programs remove blender
""")


def add(parts: Verbs) -> None:
    parser = add_part(parts, "programs", N_("programs to wait for"), TEXT, run_list)
    verbs = add_parts(parser, "add", "remove")
    for name, summary, run in (
        ("add", N_("wait for these too"), run_add),
        ("remove", N_("no longer wait for these"), run_remove),
    ):
        add_part(verbs, name, summary, TEXT, run).add_argument("names", metavar="NAME", nargs="+")


def run_list(arguments: argparse.Namespace, profile: Profile) -> int:
    with borrowed(profile) as engine:
        return _print_answer(arguments, chosen(engine)["programs"])


def run_add(arguments: argparse.Namespace, profile: Profile) -> int:
    more = programs(arguments.names)
    with borrowed(profile) as engine:
        return _print_answer(arguments, choose(engine, "programs", (*chosen(engine)["programs"], *more)))


def run_remove(arguments: argparse.Namespace, profile: Profile) -> int:
    with borrowed(profile) as engine:
        names = chosen(engine)["programs"]
        gone = {name.lower() for name in arguments.names}
        if unknown := gone - {name.lower() for name in names}:
            raise UsageError("program_not_listed", name=min(unknown))
        kept = tuple(name for name in names if name.lower() not in gone)
        return _print_answer(arguments, choose(engine, "programs", kept))


def _print_answer(arguments: argparse.Namespace, names: tuple[str, ...]) -> int:
    waiting = tr("Nothing is contributed while one of these runs: {names}.", names=", ".join(names))
    return output.answer(arguments, names, waiting if names else tr("No programs."))
