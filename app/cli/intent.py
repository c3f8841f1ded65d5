"""pause, resume, quit: what the volunteer wants."""

import argparse
import time
from types import NoneType

from app.cli.console import output
from app.cli.console.connection import borrowed, needed, running
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_verb
from app.text.formats import times
from app.text.i18n import N_, tr
from app.text.typed import periods
from core.api.errors import EngineGone
from core.api.intent import Pause, Resume
from core.api.protocol import GetSnapshot, Quit
from core.api.snapshot import Snapshot
from core.client.profile import Profile

PAUSE = help_text("""
Stop contributing for a while or until you resume. This frees the graphics card
at once and the memory within minutes; nothing that was computed is lost.

  idlehive pause                   until `idlehive resume`
  idlehive pause --for 1h          resumes in an hour
  idlehive pause --until-change    resumes at the schedule's next change
""")

RESUME = help_text("""
End a pause or, without one, an override of the schedule. This starts the
engine if it is not running.

  idlehive resume
""")

QUIT = help_text("""
End the session, then the engine, and close an open window. Peers are informed.

  idlehive quit
""")

_LONGEST_LEAVE = 60.0


def add(verbs: Verbs) -> None:
    pause = add_verb(verbs, "pause", N_("stop contributing for now"), PAUSE, run_pause)
    ends = pause.add_mutually_exclusive_group()
    ends.add_argument("--for", dest="duration", metavar="TIME", help=N_("resume after this time: 90m, 2h"))
    ends.add_argument("--until-change", action="store_true", help=N_("resume at the schedule's next change"))
    add_verb(verbs, "resume", N_("end a pause"), RESUME, run_resume)
    add_verb(verbs, "quit", N_("end the engine"), QUIT, run_quit)


def run_pause(arguments: argparse.Namespace, profile: Profile) -> int:
    seconds = periods.parse_duration(arguments.duration) if arguments.duration else None
    # The profile stores a pause, so it applies even when nothing runs yet.
    with borrowed(profile) as engine:
        edge = engine.request(GetSnapshot(), Snapshot).schedule.next_at if arguments.until_change else None
        engine.request(Pause(seconds, "next_edge" if arguments.until_change else None), NoneType)
    now = time.time()
    until = now + seconds if seconds else edge
    output.say(tr("Paused until {time}.", time=times.clock(until, now) if until else "`idlehive resume`"))
    return 0


def run_resume(_: argparse.Namespace, profile: Profile) -> int:
    with needed(profile) as engine:
        engine.request(Resume(), NoneType)
        snapshot = engine.request(GetSnapshot(), Snapshot)
    not_paused = tr("No longer paused; `idlehive contribute` starts contributing.")
    output.say(tr("Resumed.") if snapshot.wanted else not_paused)
    return 0


def run_quit(_: argparse.Namespace, profile: Profile) -> int:
    with running(profile) as engine:
        if engine is None:
            output.say(tr("The engine was not running."))
            return 0
        try:
            engine.request(Quit(with_front_ends=True), NoneType, timeout=_LONGEST_LEAVE)
        except EngineGone:
            with running(profile) as still_there:
                if still_there:
                    raise
    output.say(tr("The engine has ended."))
    return 0
