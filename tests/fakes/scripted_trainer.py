"""A trainer that says what a test tells it to, on the real wire (`core.api.session`): stdin and stdout.

`SCRIPTED_TRAINER` names a JSON file in the form of `Script`, read at each start, so that a test can change what the
next session does. Without one everything goes well.
"""

import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec

from core.api.message import Message
from core.api.session import (
    ApplySettings,
    Counters,
    EpochDone,
    Fault,
    Hold,
    Leave,
    Report,
    Resume,
    Stage,
    Start,
    TrainerCommand,
    TrainerReport,
    command_decoder,
    encode,
)
from core.api.snapshot import Progress, Traffic, Transfer
from core.system.priority import lower_priority

VARIABLE = "SCRIPTED_TRAINER"
ON_THE_WAY: tuple[Stage, ...] = ("joining", "syncing")


class Script(msgspec.Struct, frozen=True):
    """What the process does."""

    every: float = 0.05
    """Seconds between two reports; each stage on the way to contributing takes one report."""
    samples: int = 10
    """Computed from one report to the next."""
    epoch_samples: int = 50
    fault: str | None = None
    """Kind of the failure that it sends in place of contributing."""
    permanent: bool = False
    exit_code: int | None = None
    """Ends unasked after the first contributing report."""
    ignores_leave: bool = False
    leaves_after: float = 0.0
    """Seconds that it takes to say goodbye."""
    ignores_hold: bool = False
    stands_back: bool = False
    """At idle priority, as a trainer does."""
    stragglers: bool = False
    """Starts processes that outlive it: one ignores SIGTERM, one runs in a session of its own."""
    garbage: bool = False
    """Prints lines that are no reports."""
    hears: str | None = None
    """File to which every command it gets is appended, as JSON lines after a line with its process id."""


class Trainer:
    def __init__(self, script: Script) -> None:
        self._script = script
        self._commands: queue.Queue[TrainerCommand | None] = queue.Queue()
        self._counters = Counters()
        self._epoch = 0
        self._holding = False
        threading.Thread(target=self._listen, daemon=True).start()

    def run(self) -> int:
        """Until told to leave; the exit code."""
        start = self._commands.get()
        if not isinstance(start, Start):
            return 1
        if self._script.stands_back:
            lower_priority()
        if self._script.stragglers:
            _start_stragglers()
        self._report("preparing", Transfer(1, 2))
        for stage in ON_THE_WAY:
            time.sleep(self._script.every)
            self._report(stage, Transfer(1, 2))
        time.sleep(self._script.every)
        if self._script.fault is not None:
            say(Fault(Message(self._script.fault), self._script.permanent))
            return 1
        return self._contribute()

    def _contribute(self) -> int:
        while True:
            if not self._holding:
                self._compute()
            self._report("holding" if self._holding else "contributing")
            if self._script.exit_code is not None:
                return self._script.exit_code
            try:
                command = self._commands.get(timeout=self._script.every)
            except queue.Empty:
                continue
            if isinstance(command, Leave | None) and not self._script.ignores_leave:
                self._report("leaving")
                time.sleep(self._script.leaves_after)
                return 0
            if isinstance(command, Hold | Resume) and not self._script.ignores_hold:
                self._holding = isinstance(command, Hold)

    def _compute(self) -> None:
        samples = self._counters.samples + self._script.samples
        self._counters = Counters(
            samples=samples,
            rounds=samples // self._script.epoch_samples,
            epochs=samples // self._script.epoch_samples,
            seconds=self._counters.seconds + self._script.every,
            cpu_seconds=self._counters.cpu_seconds + self._script.every,
        )
        if self._counters.epochs > self._epoch:
            self._epoch = self._counters.epochs
            say(EpochDone(self._epoch, 4.0 / self._epoch, self._script.epoch_samples, 2, time.time()))

    def _report(self, stage: Stage, transfer: Transfer | None = None) -> None:
        if self._script.garbage:
            sys.stdout.buffer.write(b'a line that is no report\n{"type":"Unknown"}\n\xff\n')
        samples = self._counters.samples
        progress = Progress(
            epoch=self._epoch,
            samples=samples,
            peers=2,
            samples_per_second=samples and 100.0,
            epoch_samples=samples % self._script.epoch_samples,
            target_batch_size=self._script.epoch_samples,
        )
        say(Report(stage, progress, Traffic(uploaded=samples * 7, downloaded=samples * 5), self._counters, transfer))

    def _listen(self) -> None:
        if self._script.hears:
            _append(self._script.hears, f"{os.getpid()}\n".encode())
        for text in sys.stdin.buffer:
            if self._script.hears:
                _append(self._script.hears, text)
            command = command_decoder.decode(text)
            if not isinstance(command, ApplySettings):
                self._commands.put(command)
        self._commands.put(None)


def say(report: TrainerReport) -> None:
    sys.stdout.buffer.write(encode(report))
    sys.stdout.buffer.flush()


def _append(path: str, data: bytes) -> None:
    with Path(path).open("ab") as file:
        file.write(data)


def _start_stragglers() -> None:
    sleep = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", sleep])
    subprocess.Popen([sys.executable, "-c", sleep], start_new_session=True)


def main() -> int:
    named = os.environ.get(VARIABLE)
    script = msgspec.json.decode(Path(named).read_bytes(), type=Script) if named else Script()
    print("the scripted trainer starts", file=sys.stderr)
    try:
        return Trainer(script).run()
    except BrokenPipeError:
        return 1


if __name__ == "__main__":
    code = main()
    # Not sys.exit: that waits for the listening thread, and flushes into a pipe that may be closed.
    os._exit(code)
