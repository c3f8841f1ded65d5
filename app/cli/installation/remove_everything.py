"""remove-everything: delete the profile and all that belongs to it."""

import argparse
import sys

from app.cli.console import output
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_verb
from app.desktop import removal
from app.text.i18n import N_, tr
from app.text.installation import removal as words
from core.api.errors import UsageError
from core.client.profile import Profile

TEXT = help_text("""
Delete all that Idlehive has stored for you on this computer: history, limits,
projects, your identity, the libraries for training, invites and the proxy's
password in the keyring, start at login and the service. It cannot be undone;
export your history and your identity first if you want to keep them.

  idlehive remove-everything           asks first
  idlehive remove-everything --yes
""")


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "remove-everything", N_("delete all that is stored for you"), TEXT, run)
    parser.add_argument("--yes", action="store_true", help=N_("do not ask"))
    parser.add_argument("--keep-window", action="store_true", help=argparse.SUPPRESS)  # it shows the list


def run(arguments: argparse.Namespace, profile: Profile) -> int:
    if not arguments.yes and not _agrees(profile):
        return 1
    removed = removal.remove_everything(profile, with_front_ends=not arguments.keep_window)
    output.say(words.describe(removed))
    return 1 if removed.kept else 0


def _agrees(profile: Profile) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("removal_needs_yes")
    question = tr("Delete {path} and all that belongs to it? Type “{word}”:", path=profile.path, word=tr("yes"))
    return output.confirm(question)
