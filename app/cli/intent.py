"""pause, resume, quit: what the volunteer wants."""

import argparse
import time
from types import NoneType

from app.cli.console.connection import borrowed, needed, running
from app.cli.console.parser import Verbs, add_verb
from app.text import times, units
from core.api.errors import EngineGone
from core.api.intent import Pause, Resume
from core.api.protocol import GetSnapshot, Quit
from core.api.snapshot import Snapshot
from core.client.profile import Profile

PAUSE = """
Stop contributing, until you resume or for a while. The graphics card and the
memory are free at once; nothing that was computed is lost.

  idlehive pause             until `idlehive resume`
  idlehive pause --for 1h    goes on by itself in an hour
  idlehive pause --until-change    goes on when the schedule changes next
"""

RESUME = """
End a pause; where there is none, what overrides the schedule. Starts the engine if it is not running.

  idlehive resume
"""

QUIT = """
End the session politely, then the engine. The window, if open, closes its
connection; nothing runs afterwards.

  idlehive quit
"""

_LONGEST_GOODBYE = 60.0


def add(verbs: Verbs) -> None:
    pause = add_verb(verbs, "pause", "stop contributing for now", PAUSE, run_pause)
    ends = pause.add_mutually_exclusive_group()
    ends.add_argument("--for", dest="duration", metavar="TIME", help="go on by itself after this long: 90m, 2h")
    ends.add_argument("--until-change", action="store_true", help="go on when the schedule changes next")
    add_verb(verbs, "resume", "end a pause", RESUME, run_resume)
    add_verb(verbs, "quit", "end the engine", QUIT, run_quit)


def run_pause(arguments: argparse.Namespace, profile: Profile) -> int:
    seconds = units.parse_duration(arguments.duration) if arguments.duration else None
    # A pause is kept in the profile, so it counts even when nothing runs yet.
    with borrowed(profile) as engine:
        edge = engine.request(GetSnapshot(), Snapshot).schedule.next_at if arguments.until_change else None
        engine.request(Pause(seconds, "next_edge" if arguments.until_change else None), NoneType)
    now = time.time()
    until = now + seconds if seconds else edge
    print(f"Paused until {times.clock(until, now) if until else '`idlehive resume`'}.")
    return 0


def run_resume(_: argparse.Namespace, profile: Profile) -> int:
    with needed(profile) as engine:
        engine.request(Resume(), NoneType)
        snapshot = engine.request(GetSnapshot(), Snapshot)
    print("Resumed." if snapshot.wanted else "Not paused any more; `idlehive contribute` starts contributing.")
    return 0


def run_quit(_: argparse.Namespace, profile: Profile) -> int:
    with running(profile) as engine:
        if engine is None:
            print("The engine was not running.")
            return 0
        try:
            engine.request(Quit(), NoneType, timeout=_LONGEST_GOODBYE)
        except EngineGone:
            with running(profile) as still_there:
                if still_there:
                    raise
    print("The engine has ended.")
    return 0
