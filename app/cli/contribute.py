"""contribute: without a screen, in the foreground, with a progress display."""

import argparse
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum, auto
from types import FrameType, NoneType

from app.cli.console import output, source
from app.cli.console.display import Display, display
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_verb
from app.cli.console.session_totals import SessionTotals
from app.cli.console.signals import ENDING
from app.text import messages, reasons
from app.text.formats import numbers, times
from app.text.i18n import N_, tr
from app.text.reasons import is_paused
from app.text.typed import periods
from core.api.errors import EngineGone, UsageError, WorldError
from core.api.intent import Contribute, GiveBack, Override
from core.api.protocol import Event, GetSnapshot, QuitUnused
from core.api.reasons import OVERRIDABLE, Kind
from core.api.snapshot import Snapshot
from core.client.engine_client import EngineClient, ensure_engine
from core.client.profile import Profile

TEXT = help_text("""
Contribute in this terminal until Ctrl-C, for a while, or until the run has
reached an epoch. It needs no screen. It uses the same engine as the window and
afterwards restores what the engine did before. If several run, the latest goes
first.

  idlehive contribute                          the first project you joined,
                                               or the practice project
  idlehive contribute practice --for 2h        stops by itself in two hours
  idlehive contribute https://example.org/bees.json --until-epoch 500
  idlehive contribute --anyway --for 1h        also on battery, while you use the
                                               computer, or beyond your data cap
  idlehive contribute --by-schedule            only in the hours of the schedule
  idlehive contribute > contributing.log &     one line for each change

It overrides hours of the schedule that are off: for the given time, else until
the schedule's next change.

Exit codes: 0 done (also Ctrl-C without --for and --until-epoch), 1 failed or
stopped early, 2 wrong use.
""")

_TICK = 0.25
_REACTION = 5.0
"""Seconds in which the engine carries out a command."""
_LONGEST_LEAVE = 30.0


class Outcome(Enum):
    REACHED = auto()
    STOPPED = auto()
    FAILED = auto()


@dataclass(frozen=True)
class Goal:
    """When to stop: seconds from now, an epoch of the run, or neither."""

    seconds: float | None = None
    until_epoch: int | None = None


class Stop:
    """Set by the first Ctrl-C, SIGTERM or lost terminal; the second one interrupts at once."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, _: int, __: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "contribute", N_("contribute in this terminal"), TEXT, run)
    parser.add_argument("project", nargs="?", metavar="PROJECT", help=N_("an id, a URL or a manifest file"))
    parser.add_argument("--for", dest="duration", metavar="TIME", help=N_("stop after this long: 90m, 2h, 1h30m"))
    parser.add_argument("--anyway", action="store_true", help=N_("also where your limits say to wait"))
    parser.add_argument("--by-schedule", action="store_true", help=N_("do not override hours that are off"))
    parser.add_argument("--until-epoch", metavar="N", help=N_("stop when the run has reached this epoch"))


def run(arguments: argparse.Namespace, profile: Profile) -> int:
    goal = Goal(
        periods.parse_duration(arguments.duration) if arguments.duration else None,
        _epoch(arguments.until_epoch) if arguments.until_epoch else None,
    )
    project = source.resolve(arguments.project, profile) if arguments.project else None
    with _stop_on_signals() as stop:
        started = ensure_engine(profile)
        with EngineClient.connect(profile) as engine:
            override: Override = "none" if arguments.by_schedule else "next_edge"
            anyway = tuple(sorted(OVERRIDABLE)) if arguments.anyway else ()
            command = Contribute(project, goal.seconds, goal.until_epoch, override, anyway, borrow=True)
            return _contribute(engine, command, stop, started)


def judge(snapshot: Snapshot, number: int, stop: bool) -> Outcome | None:
    """Whether and how it ends. The engine keeps the goal of what is borrowed under this number. Pure."""
    if stop:
        return Outcome.STOPPED
    if number not in snapshot.borrowings:
        return Outcome.REACHED if number in snapshot.goals else Outcome.STOPPED
    if applies(snapshot, number) and any(reason.kind == Kind.GAVE_UP for reason in snapshot.reasons):
        return Outcome.FAILED
    return None


def applies(snapshot: Snapshot, number: int) -> bool:
    """Whether the engine does what was borrowed under this number, and not what was borrowed later. Pure."""
    return snapshot.borrowings[:1] == (number,)


def contributes(snapshot: Snapshot) -> bool:
    """Whether the engine contributes when nothing but a reason that ends prevents it. Pure."""
    return snapshot.wanted and not is_paused(snapshot)


def hint(goal: Goal, now: float) -> str:
    """The last line of the display: when it ends, and how to end it. Pure."""
    time = times.clock(now + goal.seconds, now) if goal.seconds else ""
    epoch = numbers.count(goal.until_epoch) if goal.until_epoch is not None else ""
    stops = tr("Ctrl-C stops contributing.")
    if time and epoch:
        return tr("Runs until {time} or until epoch {epoch}.", time=time, epoch=epoch) + " " + stops
    if time:
        return tr("Runs until {time}.", time=time) + " " + stops
    return tr("Runs until epoch {epoch}.", epoch=epoch) + " " + stops if epoch else stops


def _contribute(engine: EngineClient, command: Contribute, stop: Stop, started: bool) -> int:
    goal = Goal(command.seconds, command.until_epoch)
    contributing = _Takeover(engine, started)
    try:
        contributing.begin(command)
        with display(hint(goal, time.time())) as shown:
            if contributing.follows_another:
                shown.print_line(tr("Another `idlehive contribute` waits until this one has ended."))
            outcome = contributing.follow(shown, stop)
            contributing.give_back()
            goes_on = tr("Idlehive continues to contribute, as before.")
            shown.print_line(goes_on if contributing.continues else tr("Stopping."))
            contributing.end()
    except EngineGone:
        output.say(contributing.totals.sentence())
        raise WorldError("engine_ended_contributing") from None
    except BaseException:  # however it ends, an engine that this command started must not stay
        with suppress(WorldError):
            contributing.end()
        raise
    output.say(contributing.totals.sentence())
    if outcome is Outcome.FAILED:
        raise WorldError(contributing.failure)
    return 1 if outcome is Outcome.STOPPED and goal != Goal() else 0


class _Takeover:
    """What this command changes in the engine, and its totals."""

    def __init__(self, engine: EngineClient, started: bool) -> None:
        self._engine = engine
        self._started = started
        self._latest = engine.request(GetSnapshot(), Snapshot)
        self._number: int | None = None
        """Of what it has borrowed and not given back."""
        self._ended = self._ends_engine = False
        self.follows_another = self._latest.borrowed
        self.totals = SessionTotals().after(self._latest)
        self.failure = tr("The session failed.")

    @property
    def continues(self) -> bool:
        """Whether the engine contributes without this command: as it did before, or for another one."""
        return contributes(self._latest) and not self._ends_engine

    def begin(self, command: Contribute) -> None:
        self._number = self._engine.request(command, int, timeout=120.0)
        self._update(self._engine.request(GetSnapshot(), Snapshot))

    def follow(self, shown: Display, stop: Stop) -> Outcome:
        number, waits = self._number or 0, False
        for message in self._engine.messages(_TICK):
            if isinstance(message, Snapshot):
                self._update(message)
                if number in message.borrowings and waits is applies(message, number):
                    waits = not waits
                    shown.print_line(_has_to_wait() if waits else tr("It goes on here."))
                shown.show(message)
            elif isinstance(message, Event):
                shown.show_event(message)
            else:
                shown.tick()
            outcome = judge(self._latest, number, stop.asked)
            if outcome:
                return outcome
        raise EngineGone("engine_ended")

    def give_back(self) -> None:
        """As the engine was; nothing happens the second time."""
        number, self._number = self._number, None
        if number is not None:
            self._engine.request(GiveBack(number), NoneType)
            self._update(self._engine.request(GetSnapshot(), Snapshot))
        if self._started:
            self._started, self._ends_engine = False, self._engine.request(QuitUnused(), bool)

    def end(self) -> None:
        """Give the engine back, or end it if it was not there. Does so once."""
        if self._ended:
            return
        self._ended = True
        self.give_back()
        if self._ends_engine:
            with suppress(EngineGone):
                self._wait_until(lambda: False, _LONGEST_LEAVE)
        elif not self.continues:
            self._wait_until(lambda: self._latest.state in ("idle", "holding", "failed"), _REACTION)

    def _wait_until(self, condition: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        for message in self._engine.messages(_TICK):
            if isinstance(message, Snapshot):
                self._update(message)
            if condition() or time.monotonic() > deadline:
                return

    def _update(self, snapshot: Snapshot) -> None:
        self._latest = snapshot
        self.totals = self.totals.after(snapshot)
        gave_up = next((reasons.sentence(each) for each in snapshot.reasons if each.kind == Kind.GAVE_UP), None)
        error = messages.sentence(snapshot.error) if snapshot.error else None
        self.failure = gave_up or error or self.failure


@contextmanager
def _stop_on_signals() -> Iterator[Stop]:
    stop = Stop()
    before = {number: signal.signal(number, stop) for number in ENDING}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _has_to_wait() -> str:
    return tr("Another `idlehive contribute` goes first; this one continues when it has ended.")


def _epoch(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 12 or not int(text):
        raise UsageError("epoch_invalid", text=text)
    return int(text)
