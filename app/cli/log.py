"""log: what the engine and the sessions wrote, merged by time."""

import argparse
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from app.cli.console import output
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_verb
from app.log.files import Tail, merge, tails
from app.text.i18n import N_, tr
from core.api.errors import UsageError
from core.client.profile import Profile

TEXT = help_text("""
What the engine and the sessions wrote, the newest last.

  idlehive log              the last 200 lines
  idlehive log -n 1000
  idlehive log -f           also new lines, until Ctrl-C
""")

_POLL_INTERVAL = 0.3


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "log", N_("what the engine and the sessions wrote"), TEXT, run)
    parser.add_argument("-f", "--follow", action="store_true", help=N_("continue with new lines, until Ctrl-C"))
    parser.add_argument("-n", dest="lines", metavar="LINES", default="200", help=N_("how many lines, at most (200)"))


def run(arguments: argparse.Namespace, profile: Profile) -> int:
    if not arguments.lines.isascii() or not arguments.lines.isdigit() or len(arguments.lines) > 9:
        raise UsageError("lines_not_a_number", text=str(arguments.lines))
    known: dict[Path, Tail] = {}
    old = merge((tail.name, tail.read()) for tail in tails(profile, known))
    kept = old[-int(arguments.lines) :] if int(arguments.lines) else []
    if not old and not arguments.follow:
        output.say(tr("There is no log in {folder} yet.", folder=profile.logs))
    _print(kept)
    if arguments.follow:
        with suppress(KeyboardInterrupt):
            _follow(profile, known)
    return 0


def _follow(profile: Profile, known: dict[Path, Tail]) -> None:
    while True:
        _print(merge([(tail.name, tail.read()) for tail in tails(profile, known)]))
        time.sleep(_POLL_INTERVAL)


def _print(lines: Iterable[tuple[str, str]]) -> None:
    for name, line in lines:
        print(f"{name:<12} {line}", flush=True)
