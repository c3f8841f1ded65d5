"""Set-up's progress: one line that is redrawn on a terminal, a few plain lines elsewhere."""

import re
import shutil
import threading
import time
from types import TracebackType
from typing import Self, TextIO

_BAR_CELLS = 12
_REDRAW_SECONDS = 0.2
_UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_DOWNLOADING = re.compile(r"^Downloading (\S+) \(([\d.]+)([KMG]iB)\)")
_FINISHED = re.compile(r"^\s+(?:Downloaded|Built) (\S+)")
_RESOLVED = re.compile(r"^Resolved (\d+) packages?")


class Progress:
    """A display of stages; `fraction` runs from 0 to 1 over the whole set-up."""

    def __init__(self, out: TextIO, title: str) -> None:
        self._out = out
        self._title = title
        self._live = out.isatty()
        self._cells = ("█", "░") if (out.encoding or "").lower().startswith("utf") else ("#", ".")
        self._started = time.monotonic()
        self._fraction = 0.0
        self._text = ""
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Self:
        if self._live:
            self._ticker.start()
        else:
            self._print(self._title)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._live:
            self._ticker.join()
            self._erase()
        if kind is None:
            self._print(f"Ready after {self.seconds():.0f} s.")

    def seconds(self) -> float:
        return time.monotonic() - self._started

    def stage(self, text: str, fraction: float) -> None:
        """Begin a stage, which gets a line of its own where lines are not redrawn."""
        self.step(text, fraction)
        if not self._live:
            self._print(f"  {text}")

    def step(self, text: str, fraction: float) -> None:
        """Show progress within a stage; the bar never goes back."""
        with self._lock:
            self._text = text
            self._fraction = max(self._fraction, min(fraction, 1.0))

    def note(self, text: str) -> None:
        """Print a permanent line."""
        with self._lock:
            if self._live:
                self._erase()
            self._print(text)

    def _tick(self) -> None:
        while not self._ended.wait(_REDRAW_SECONDS):
            with self._lock:
                line = draw(self._title, self._fraction, self._text, self.seconds(), self._cells)
                self._out.write(f"\r\033[K{line[: shutil.get_terminal_size().columns - 1]}")
                self._out.flush()

    def _erase(self) -> None:
        self._out.write("\r\033[K")
        self._out.flush()

    def _print(self, text: str) -> None:
        self._out.write(f"{text}\n")
        self._out.flush()


def draw(title: str, fraction: float, text: str, seconds: float, cells: tuple[str, str]) -> str:
    """One line: title, bar, per cent, time since the start and what is being done."""
    full = round(_BAR_CELLS * fraction)
    bar = cells[0] * full + cells[1] * (_BAR_CELLS - full)
    minutes, rest = divmod(int(seconds), 60)
    return f"{title}  {bar} {fraction:4.0%}  {minutes}:{rest:02}  {text}"


class UvReader:
    """Follows uv's lines through resolving, installing."""

    def __init__(self, progress: Progress, start: float, end: float) -> None:
        self._progress = progress
        self._start = start
        self._span = end - start
        self._sizes: dict[str, float] = {}
        self._fetched: set[str] = set()

    def __call__(self, line: str) -> None:
        if resolved := _RESOLVED.match(line):
            self._progress.stage(f"installing {resolved[1]} packages", self._start + 0.1 * self._span)
        elif begun := _DOWNLOADING.match(line):
            self._sizes[begun[1]] = float(begun[2]) * _UNITS[begun[3]]
            self._show()
        elif done := _FINISHED.match(line):
            self._fetched.add(done[1])
            self._show()
        elif line.startswith("Prepared "):
            self._progress.step("installing", self._start + 0.8 * self._span)
        elif line.startswith("Installed "):
            self._progress.step("compiling", self._start + 0.85 * self._span)

    def _show(self) -> None:
        pending = {name: size for name, size in self._sizes.items() if name not in self._fetched}
        total = sum(self._sizes.values())
        fraction = 1 - sum(pending.values()) / total if total else 0.0
        self._progress.step(describe(pending), self._start + (0.1 + 0.7 * fraction) * self._span)


def describe(pending: dict[str, float]) -> str:
    """Name the largest package still on its way, with its size, and count the others."""
    if not pending:
        return "unpacking"
    largest = max(pending, key=lambda name: pending[name])
    others = f" +{len(pending) - 1}" if len(pending) > 1 else ""
    return f"{largest} ({pending[largest] / 2**20:.0f} MiB){others}"
