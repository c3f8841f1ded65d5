"""disk: what Idlehive holds on the disk, and deleting what can be fetched again."""

import argparse

from app.cli.console import output
from app.cli.console.connection import ask
from app.cli.console.parser import Verbs, add_json, add_verb
from app.text import disk
from app.text.formats import numbers
from core.api.disk import DiskUse, FreeSpace, GetDiskUse
from core.client.profile import Profile

TEXT = """
What Idlehive holds on the disk, by kind, and how much is left.

  idlehive disk
  idlehive disk --free      delete what no session uses and any can fetch again
"""


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "disk", "what Idlehive holds on the disk", TEXT, run)
    parser.add_argument("--free", action="store_true", help="delete what can be fetched again")
    add_json(parser)


def run(arguments: argparse.Namespace, profile: Profile) -> int:
    use = ask(profile, FreeSpace() if arguments.free else GetDiskUse(), DiskUse)
    rows = [*((name, numbers.size(size)) for name, size in disk.kinds(use))]
    width = max((len(name) for name, _ in rows), default=0)
    lines = [f"{name:<{width}}  {size:>9}" for name, size in rows]
    return output.answer(arguments, use, "\n".join([*lines, disk.left(use), disk.to_free(use)]))
