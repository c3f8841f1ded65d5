"""status: what is going on, now or as it changes."""

import argparse
import time
from collections.abc import Iterator
from contextlib import suppress

import msgspec

from app.cli.console import output
from app.cli.console.connection import running
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_json, add_verb
from app.text import progress, reasons, schedule, status
from app.text.formats.sentences import closed
from app.text.i18n import N_, tr
from app.text.preferences import words
from app.text.typed import values
from core.api.errors import EngineGone
from core.api.preferences.preferences import PREFERENCES
from core.api.protocol import Event, GetSnapshot
from core.api.session_settings import SessionSettings
from core.api.snapshot import Snapshot
from core.client.installation import core_command, core_environment
from core.client.profile import Profile

TEXT = help_text("""
Show what Idlehive is doing and, if it is not contributing, why. This command
starts nothing.

  idlehive status                       once
  idlehive status --watch               until Ctrl-C
  idlehive status --json | jq .state    for scripts; the keys stay
""")

_POLL_INTERVAL = 1.0
_READING = 10.0
"""Seconds that the record may take to be read."""
_NOTHING = Snapshot(state="idle")
"""The snapshot while no engine runs."""


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "status", N_("what is going on"), TEXT, run)
    add_json(parser)
    parser.add_argument("--watch", action="store_true", help=N_("show every change, until Ctrl-C"))


def run(arguments: argparse.Namespace, profile: Profile) -> int:
    if arguments.watch:
        with suppress(KeyboardInterrupt):
            _watch_json(profile) if arguments.json else _watch(profile)
        return 0
    with running(profile) as engine:
        snapshot = engine.request(GetSnapshot(), Snapshot) if engine else _at_rest(profile)
    if arguments.json:
        output.print_json(output.status_json(snapshot))
    else:
        output.say("\n".join(map(output.printable, lines(snapshot, time.time()))))
    return 0


def lines(snapshot: Snapshot, now: float) -> list[str]:
    if not snapshot.engine_pid:
        at_rest = tr("Idle: the engine is not running. `idlehive contribute` starts it.")
        return [at_rest, *(f"  {line}" for line in _kept(snapshot, now))]
    return [status.status(snapshot, now), *(f"  {line}" for line in _details(snapshot, now))]


def _at_rest(profile: Profile) -> Snapshot:
    """What the record and the schedule say without an engine. Read by a process of the core, which knows the file."""
    if profile.machine is not None or not profile.database.exists():
        return _NOTHING
    import subprocess  # slow to import, and not needed while an engine runs

    command, environment = core_command("core.engine.at_rest"), core_environment()
    try:
        read = subprocess.run(command, capture_output=True, timeout=_READING, check=True, env=environment)
        return msgspec.json.decode(read.stdout, type=Snapshot)
    except (OSError, subprocess.SubprocessError, msgspec.DecodeError):
        return _NOTHING


def _kept(snapshot: Snapshot, now: float) -> Iterator[str]:
    """What is known with and without an engine."""
    if snapshot.today.samples:
        yield tr("Today: {figures}", figures=progress.today(snapshot.today))
    if place := status.place(snapshot.place):
        yield place
    if snapshot.schedule.next_at is not None or snapshot.schedule.overridden:
        yield tr("Schedule: {summary}", summary=schedule.summary(snapshot.schedule, now))


def _details(snapshot: Snapshot, now: float) -> Iterator[str]:
    if snapshot.silence:
        yield status.silence()
    if snapshot.project and snapshot.state != "contributing":  # its headline has the name
        yield tr("Project: {name}", name=status.project(snapshot))
    if detail := reasons.main_detail(snapshot):
        yield detail
    for reason in reasons.other_reasons(snapshot):
        yield closed(reasons.sentence_with_end(reason, now))
    if snapshot.session:
        if snapshot.progress.peers:  # before it has found the others, it knows nothing of the run
            yield progress.epoch(snapshot.progress)
        yield tr("This session: {figures}", figures=progress.own(snapshot.progress))
        traffic = f"{progress.upload(snapshot.traffic)}, {progress.download(snapshot.traffic)}"
        yield tr("Traffic: {figures}", figures=traffic)
    if known := status.reachability(snapshot):
        yield closed(known)
    yield from _advice(snapshot)
    yield from _kept(snapshot, now)
    if snapshot.settings.gpu and snapshot.surroundings.last_input is None:
        yield tr("Idlehive cannot see whether you use the computer; `idlehive doctor` shows what it tried.")
    if changed := _changed_limits(snapshot.settings):
        yield tr("Limits: {limits}", limits=changed)


def _advice(snapshot: Snapshot) -> Iterator[str]:
    if name := reasons.remedy(snapshot):
        yield tr("`idlehive limits set {name} …` changes “{limit}”.", name=name, limit=words(name).name)
    if status.asks_for_port(snapshot):
        yield tr("`idlehive limits set port_mapping yes` lets the router open a port.")


def _changed_limits(settings: SessionSettings) -> str:
    """Those of the session that differ from their defaults; a card's only where one is used."""
    limits = settings.limits
    declared = [PREFERENCES[name] for name in limits.__struct_fields__ if settings.gpu or not name.startswith("gpu_")]
    chosen = [each for each in declared if getattr(limits, each.name) != each.default]
    written = (f"{words(each.name).name} {values.write(getattr(limits, each.name), each.type)}" for each in chosen)
    return ", ".join(written)


def _watch(profile: Profile) -> None:
    from app.cli.console.display import display

    with display(tr("Ctrl-C ends this display; contributing goes on.")) as shown:
        for message in _watched(profile):
            if isinstance(message, Snapshot):
                shown.show(message)
            elif message:
                shown.show_event(message)
            else:
                shown.tick()


def _watch_json(profile: Profile) -> None:
    for message in _watched(profile):
        if isinstance(message, Snapshot):
            output.print_json(output.status_json(message), one_line=True)


def _watched(profile: Profile) -> Iterator[Snapshot | Event | None]:
    """Messages of the engine, also of one that starts later; None is a tick."""
    while True:
        with running(profile) as engine, suppress(*([] if profile.machine else [EngineGone])):
            if engine:
                yield from engine.messages(tick=1.0)
        yield _NOTHING
        while not _listens(profile):
            time.sleep(_POLL_INTERVAL)


def _listens(profile: Profile) -> bool:
    with running(profile) as engine:
        return engine is not None
