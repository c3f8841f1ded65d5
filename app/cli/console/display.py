"""Live progress: a few lines that are redrawn in a terminal, one plain line for each change elsewhere."""

import time
from typing import TYPE_CHECKING, Self

from app.cli.console import layout, output
from app.text import messages, progress, status, steps
from app.text.formats import numbers
from app.text.i18n import tr
from core.api.protocol import Event
from core.api.snapshot import Snapshot

if TYPE_CHECKING:
    from rich.console import RenderableType

_STYLES = {"contributing": "bold green", "failed": "bold red", "holding": "bold yellow"}
_BAR = 40
_BETWEEN = 2


class PlainDisplay:
    """For logs and pipes: a line for each change, with the time."""

    def __init__(self) -> None:
        self._shown: object = None
        self._line = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def show(self, snapshot: Snapshot) -> None:
        if (now_shown := _without_figures(snapshot)) != self._shown:
            self._shown, before = now_shown, self._line
            self._line = output.printable(status.status(snapshot, time.time()))
            if self._line != before:
                self.print_line(self._line)

    def show_event(self, event: Event) -> None:
        self.print_line(event_line(event))

    def print_line(self, text: str) -> None:
        output.say(f"{time.strftime('%H:%M:%S')}  {text}")

    def tick(self) -> None:
        return


class TerminalDisplay:
    """For people: the current state, redrawn in place, below the events."""

    def __init__(self, hint: str) -> None:
        from rich.live import Live

        self._hint = hint
        self._started = time.monotonic()
        self._snapshot: Snapshot | None = None
        self._live = Live(console=output.console(), auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.tick()

    def show_event(self, event: Event) -> None:
        if event.kind != "epoch_done":
            self.print_line(event_line(event))

    def print_line(self, text: str) -> None:
        self._live.console.print(*layout.fitted(text, output.columns()), sep="\n")

    def tick(self) -> None:
        if self._snapshot:
            elapsed = time.monotonic() - self._started
            self._live.update(picture(self._snapshot, time.time(), elapsed, self._hint), refresh=True)


Display = PlainDisplay | TerminalDisplay


def display(hint: str = "") -> Display:
    """A display for the terminal or the pipe; `hint` stays at the bottom of a terminal."""
    return TerminalDisplay(hint) if output.is_terminal() else PlainDisplay()


def picture(snapshot: Snapshot, now: float, elapsed: float, hint: str) -> "RenderableType":
    """The lines of the terminal display; they are cut to its width here, so that Rich redraws as many as there are."""
    from rich.text import Text

    room = output.columns()
    headline = layout.wrapped(output.printable(status.status(snapshot, now)), room)
    styled = [(line, _STYLES.get(snapshot.state, "bold")) for line in headline]
    if snapshot.session:
        styled.append((bar(share(snapshot), min(_BAR, room)), "green"))
        rows = facts(snapshot)
        column = max(layout.width(name) for name, _ in rows) + _BETWEEN
        styled += [(line, "") for row in rows for line in layout.hanging(layout.padded(row[0], column), row[1], room)]
    so_far = tr("{time} so far. {hint}", time=numbers.duration(elapsed), hint=hint)
    styled += [(line, "dim") for line in layout.wrapped(so_far, room)]
    return Text("\n").join(Text(line, style=style) for line, style in styled)


def bar(part: float, room: int = _BAR) -> str:
    """A share of 1 as blocks that differ without colours."""
    full = int(part * room)
    return "█" * full + "░" * (room - full)


def share(snapshot: Snapshot) -> float:
    """Progress from 0 to 1: of the download if there is one, else of the epoch."""
    if snapshot.transfer:
        return min(snapshot.transfer.done / snapshot.transfer.total, 1.0) if snapshot.transfer.total else 0.0
    return progress.batch_share(snapshot.progress)


def facts(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Names and values under the bar."""
    now, traffic = snapshot.progress, snapshot.traffic
    rows = [(tr("Traffic"), f"{progress.upload(traffic)}, {progress.download(traffic)}")]
    if snapshot.today.samples:
        rows.insert(0, (tr("Today"), progress.today(snapshot.today)))
    if snapshot.state not in ("contributing", "holding"):
        return rows
    swarm = f"{progress.speed(now.swarm_samples_per_second)}, {steps.step_name(now.phase).lower()}"
    given = (tr("Run"), progress.epoch(now)), (tr("You gave"), progress.own(now)), (tr("Swarm"), swarm)
    return [*given, *rows]


def _without_figures(snapshot: Snapshot) -> tuple[object, ...]:
    """A change of these makes a new line; figures that change all the time do not."""
    reasons = tuple((reason.kind, reason.until) for reason in snapshot.reasons)
    now_and_then = snapshot.silence, snapshot.catching_up, snapshot.error, snapshot.retry_at
    return snapshot.state, snapshot.project, *now_and_then, reasons


def event_line(event: Event) -> str:
    if event.kind == "epoch_done" and event.epoch is not None:
        return progress.epoch_done(event.epoch, event.loss)
    return output.printable(messages.sentence(event.message))
