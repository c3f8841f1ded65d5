"""disk: what Idlehive holds on the disk, and deleting what can be fetched again."""

import argparse

from app.cli.console import layout, output
from app.cli.console.connection import ask
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_json, add_verb
from app.text import disk
from app.text.formats import numbers
from app.text.i18n import N_
from core.api.disk import DiskUse, FreeSpace, GetDiskUse
from core.client.profile import Profile

TEXT = help_text("""
What Idlehive holds on the disk, by kind, and how much is left.

  idlehive disk
  idlehive disk --free      delete what no session uses and any can fetch again
""")


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "disk", N_("what Idlehive holds on the disk"), TEXT, run)
    parser.add_argument("--free", action="store_true", help=N_("delete what can be fetched again"))
    add_json(parser)


def run(arguments: argparse.Namespace, profile: Profile) -> int:
    use = ask(profile, FreeSpace() if arguments.free else GetDiskUse(), DiskUse)
    lines = layout.aligned((name, f"{numbers.size(size):>9}") for name, size in disk.kinds(use))
    return output.answer(arguments, use, "\n".join([*lines, disk.left(use), disk.to_free(use)]))
