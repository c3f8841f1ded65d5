"""Progress while one watches: a few lines that renew themselves in a terminal, one plain line a change elsewhere."""

import time
from typing import TYPE_CHECKING, Self

from app.cli.console import output
from app.text import plain
from core.api.protocol import Event
from core.api.snapshot import Snapshot

if TYPE_CHECKING:
    from rich.console import RenderableType

_STYLES = {"contributing": "bold green", "failed": "bold red", "holding": "bold yellow"}
_BAR = 40


class PlainDisplay:
    """For logs and pipes: each change once, with the time."""

    def __init__(self) -> None:
        self._headline = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def show(self, snapshot: Snapshot) -> None:
        headline = plain_headline(snapshot, time.time())
        if headline != self._headline:
            self._headline = headline
            self.say(headline)

    def tell(self, event: Event) -> None:
        self.say(event_line(event))

    def say(self, text: str) -> None:
        print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)

    def tick(self) -> None:
        return


class TerminalDisplay:
    """For people: the present state, renewed in place; what happened once stays above it."""

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

    def tell(self, event: Event) -> None:
        if event.kind != "epoch_done":
            self.say(event_line(event))

    def say(self, text: str) -> None:
        self._live.console.print(text)

    def tick(self) -> None:
        if self._snapshot:
            elapsed = time.monotonic() - self._started
            self._live.update(picture(self._snapshot, time.time(), elapsed, self._hint), refresh=True)


Display = PlainDisplay | TerminalDisplay


def display(hint: str = "") -> Display:
    """The display that suits where the output goes; `hint` stays at the bottom of a terminal."""
    return TerminalDisplay(hint) if output.is_terminal() else PlainDisplay()


def picture(snapshot: Snapshot, now: float, elapsed: float, hint: str) -> "RenderableType":
    """The lines of the terminal display; they fold where the terminal is narrow."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = [Text(plain.headline(snapshot, now), style=_STYLES.get(snapshot.state, "bold"))]
    if snapshot.session:
        parts.append(Text(bar(share(snapshot)), style="green"))
        rows = Table.grid(padding=(0, 2))
        for name, value in facts(snapshot):
            rows.add_row(Text(name, style="dim"), Text(value))
        parts.append(rows)
    parts.append(Text(f"{plain.duration(elapsed)} so far. {hint}", style="dim"))
    return Group(*parts)


def bar(part: float) -> str:
    """A share of 1 as blocks that can be told apart without colours."""
    full = int(part * _BAR)
    return "█" * full + "░" * (_BAR - full)


def share(snapshot: Snapshot) -> float:
    """How far it is, 0 to 1: with the download that stands in the way, else with the epoch."""
    if snapshot.transfer:
        return min(snapshot.transfer.done / snapshot.transfer.total, 1.0) if snapshot.transfer.total else 0.0
    return plain.share(snapshot)


def facts(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Names and values under the bar."""
    progress, traffic, today = snapshot.progress, snapshot.traffic, snapshot.today
    up = f"↑ {plain.rate(traffic.upload_rate)} ({plain.size(traffic.uploaded)})"
    down = f"↓ {plain.rate(traffic.download_rate)} ({plain.size(traffic.downloaded)})"
    rows = [("Traffic", f"{up}   {down}")]
    if today.samples:
        given = f"{plain.count(today.samples, 'sample')}, {plain.count(today.epochs, 'epoch')}"
        rows.insert(0, ("Today", f"{given}, {plain.duration(today.seconds)}"))
    if snapshot.state not in ("contributing", "holding"):
        return rows
    given = f"{plain.count(progress.samples, 'sample')} at {plain.speed(progress.samples_per_second)}"
    swarm = f"{plain.speed(progress.swarm_samples_per_second)}, {progress.phase.replace('_', ' ')}"
    return [("Run", plain.epoch(snapshot)), ("You gave", given), ("Swarm", swarm), *rows]


def plain_headline(snapshot: Snapshot, now: float) -> str:
    """The headline without what changes all the time: a log is not for percentages."""
    if snapshot.transfer and snapshot.state in ("starting", "syncing"):
        return f"{plain.STATES[snapshot.state]} ({plain.project(snapshot)}): {plain.size(snapshot.transfer.total)}"
    return plain.headline(snapshot, now)


def event_line(event: Event) -> str:
    if event.kind == "epoch_done" and event.epoch is not None:
        return f"Epoch {event.epoch:,}" + (f": loss {event.loss:.3f}" if event.loss is not None else "")
    return plain.clean(event.text)
