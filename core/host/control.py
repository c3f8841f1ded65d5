"""Reads the engine's commands to an embedded backbone on stdin: hold, resume, settings. At end of file it ends."""

import logging
import os
import threading
from collections.abc import Callable

import msgspec

from core.api.hosting import host_command_decoder
from core.api.session import ApplySettings, Hold
from core.api.session_settings import SessionSettings

log = logging.getLogger(__name__)

_HELD_PERIOD = 0.1
"""Seconds between two checks whether the hold is over."""


class EvaluationStopped(Exception):
    """The backbone is to end, and nobody needs the evaluation."""

    def __str__(self) -> str:
        return "the evaluation is not needed any more"


class HostControl:
    """Reads on a thread of its own, so that a pause takes effect while the backbone polls the run."""

    def __init__(self, ending: threading.Event) -> None:
        self.held = False
        self._ending = ending
        self._on_change: Callable[[bool], None] = lambda _held: None
        self._on_settings: Callable[[SessionSettings], None] = lambda _settings: None
        self._settings: SessionSettings | None = None
        self._serves = False
        threading.Thread(target=self._listen, name="control", daemon=True).start()

    def subscribe(self, on_change: Callable[[bool], None], on_settings: Callable[[SessionSettings], None]) -> None:
        """Call these with the latest command now, and with each new one."""
        self._on_change, self._on_settings, self._serves = on_change, on_settings, True
        on_change(self.held)
        if self._settings is not None:
            on_settings(self._settings)

    def wait_while_held(self) -> None:
        """Return at `Resume`.

        Raises:
            EvaluationStopped: the backbone is to end.
        """
        while self.held and not self._ending.wait(_HELD_PERIOD):
            pass
        if self._ending.is_set():
            raise EvaluationStopped

    def _listen(self) -> None:
        # Not sys.stdin: a forked process closes it first, and would wait for the lock that this thread holds.
        with open(os.dup(0), "rb") as commands:  # noqa: PTH123 - a descriptor
            for line in commands:
                self._apply(line)
        if not self._serves:
            # Libraries load for seconds, and nobody has been served yet.
            os._exit(0)
        self._ending.set()

    def _apply(self, line: bytes) -> None:
        try:
            command = host_command_decoder.decode(line)
        except msgspec.DecodeError as error:
            log.warning("unknown command: %s", error)
            return
        if isinstance(command, ApplySettings):
            self._settings = command.settings
            self._on_settings(command.settings)
        else:
            self.held = isinstance(command, Hold)
            self._on_change(self.held)
