"""status: what is going on, now or as it changes."""

import argparse
import time
from collections.abc import Iterator
from contextlib import suppress

from app.cli.console import output
from app.cli.console.connection import running
from app.cli.console.display import display
from app.cli.console.parser import Verbs, add_json, add_verb
from app.text import plain
from core.api.errors import EngineGone
from core.api.protocol import Event, GetSnapshot
from core.api.snapshot import Snapshot
from core.client.profile import Profile

TEXT = """
Tell what Idlehive is doing and, if it is not contributing, why. Never starts
anything.

  idlehive status                       once
  idlehive status --watch               until Ctrl-C
  idlehive status --json | jq .state    for scripts; the keys stay
"""

_LOOK_AGAIN = 1.0
_NOTHING = Snapshot(state="idle")
"""What is so when no engine runs."""


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "status", "what is going on", TEXT, run)
    add_json(parser)
    parser.add_argument("--watch", action="store_true", help="go on telling, until Ctrl-C")


def run(arguments: argparse.Namespace, profile: Profile) -> int:
    if arguments.watch:
        with suppress(KeyboardInterrupt):
            _watch_json(profile) if arguments.json else _watch(profile)
        return 0
    with running(profile) as engine:
        snapshot = engine.request(GetSnapshot(), Snapshot) if engine else _NOTHING
    if arguments.json:
        output.print_json(output.status_json(snapshot))
    else:
        print("\n".join(lines(snapshot, time.time())))
    return 0


def lines(snapshot: Snapshot, now: float) -> list[str]:
    """What a person is told."""
    if not snapshot.engine_pid:
        return ["Idle: the engine is not running. `idlehive contribute` starts it."]
    said = [plain.headline(snapshot, now)]
    if snapshot.state not in ("idle", "holding"):
        said += [f"  {plain.reason(value, now)}" for value in snapshot.reasons]
    if snapshot.session:
        said += _session_lines(snapshot)
    today = snapshot.today
    if today.samples:
        spent = plain.duration(today.seconds)
        said.append(f"  Today: {plain.count(today.samples, 'sample')}, {plain.count(today.epochs, 'epoch')}, {spent}")
    if snapshot.place:
        said.append(f"  Your place: {plain.place(snapshot.place)}")
    if snapshot.schedule.next_at is not None or snapshot.schedule.overridden:
        said.append(f"  Schedule: {plain.schedule(snapshot.schedule, now)}")
    if snapshot.settings.gpu and snapshot.surroundings.last_input is None:
        said.append("  Nobody tells whether you are using the computer; `idlehive doctor` says what was tried.")
    return [*said, f"  Limits: {plain.limits(snapshot.settings.limits)}"]


def _session_lines(snapshot: Snapshot) -> list[str]:
    progress, traffic = snapshot.progress, snapshot.traffic
    up = f"{plain.size(traffic.uploaded)} sent ({plain.rate(traffic.upload_rate)})"
    down = f"{plain.size(traffic.downloaded)} received ({plain.rate(traffic.download_rate)})"
    speed = plain.speed(progress.samples_per_second)
    return [
        f"  {plain.epoch(snapshot)}",
        f"  This session: {plain.count(progress.samples, 'sample')} at {speed}, {up}, {down}",
    ]


def _watch(profile: Profile) -> None:
    with display("Ctrl-C ends the watching, not the contributing.") as shown:
        for message in _watched(profile):
            if isinstance(message, Snapshot):
                shown.show(message)
            elif message:
                shown.tell(message)
            else:
                shown.tick()


def _watch_json(profile: Profile) -> None:
    for message in _watched(profile):
        if isinstance(message, Snapshot):
            output.print_json(output.status_json(message), one_line=True)


def _watched(profile: Profile) -> Iterator[Snapshot | Event | None]:
    """What the engine says, for as long as one listens; engines may come and go."""
    while True:
        with running(profile) as engine, suppress(EngineGone):
            if engine:
                yield from engine.messages(tick=1.0)
        yield _NOTHING
        while not _listens(profile):
            time.sleep(_LOOK_AGAIN)


def _listens(profile: Profile) -> bool:
    with running(profile) as engine:
        return engine is not None
