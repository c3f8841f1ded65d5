"""events: what has happened, in sentences."""

import argparse
import time

from app.cli.console import output
from app.cli.console.connection import ask
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_json, add_verb
from app.text import events
from app.text.i18n import N_, tr
from core.api.record.events import GetEvents, PastEvent
from core.client.profile import Profile

TEXT = help_text("""
What has happened on this computer: when contributing began, what it waited for,
and what failed. The newest first. `idlehive log` has the technical details.

  idlehive events
  idlehive events --project birds
""")


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "events", N_("what has happened, in sentences"), TEXT, run)
    parser.add_argument("--project", metavar="ID", help=N_("of this project only"))
    add_json(parser)


def run(arguments: argparse.Namespace, profile: Profile) -> int:
    found = ask(profile, GetEvents(arguments.project), list[PastEvent])
    lines = events.lines(found, time.time()) or [tr("Nothing has happened yet.")]
    return output.answer(arguments, found, "\n".join(output.printable(line) for line in lines))
