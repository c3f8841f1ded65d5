"""Sends reports to the engine, two a second and at each change of stage, on a thread that training does not block.

While a session works, a report comes every two seconds even if nothing has changed: after a longer silence its figures
count as old. On hold, where they stay as they are, only changes are sent, and looked for once a second.
"""

import os
import threading
import time
from collections.abc import Callable

from core.api.session import Report, TrainerReport, encode

_PERIOD, _PERIOD_ON_HOLD = 0.5, 1.0
_LONGEST_SILENCE = 2.0


class Reporter:
    """Writes messages to the pipe."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._stopped, self._woken = threading.Event(), threading.Event()
        self._read: Callable[[], Report] = lambda: Report("preparing")
        self._thread = threading.Thread(target=self._run, name="reporter", daemon=True)

    @classmethod
    def take_standard_output(cls) -> "Reporter":
        """Use the pipe of stdout for reports only: output of libraries goes to stderr instead."""
        pipe = os.dup(1)
        os.dup2(2, 1)
        return cls(pipe)

    def report(self, read: Callable[[], Report]) -> None:
        """Start sending what `read` returns whenever it changes."""
        self._read = read
        if not self._thread.is_alive():
            self._thread.start()

    def wake(self) -> None:
        """Look for a change now."""
        self._woken.set()

    def stop(self) -> None:
        """Send a last report, so that no sample goes unrecorded, and stop."""
        self._stopped.set()
        self.wake()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        last, sent_at = None, 0.0
        while True:
            self._woken.clear()
            stopping = self._stopped.is_set()
            report, now = self._read(), time.monotonic()
            if report != last or (now >= sent_at + _LONGEST_SILENCE and report.stage != "holding"):
                self.send(report)
                last, sent_at = report, now
            if stopping:
                return
            self._woken.wait(_PERIOD_ON_HOLD if report.stage == "holding" else _PERIOD)

    def send(self, message: TrainerReport) -> None:
        data = encode(message)
        with self._lock:
            try:
                while data:
                    data = data[os.write(self._descriptor, data) :]
            except BrokenPipeError:
                # The engine has ended; the control thread notices it too and ends the session.
                self._stopped.set()
