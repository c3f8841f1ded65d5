"""What an embedded backbone is told by its engine, on stdin: hold, resume, limits, and by the end of the file to go."""

import logging
import os
import threading
from collections.abc import Callable

import msgspec

from core.api.hosting import host_command_decoder
from core.api.preferences.preferences import Limits
from core.api.session import ApplyLimits, Hold

log = logging.getLogger(__name__)

_LOOK_EVERY = 0.1


class Orders:
    """Read on a thread of its own, so that a pause is obeyed while the backbone looks at the run."""

    def __init__(self, ending: threading.Event) -> None:
        self.held = False
        self._ending = ending
        self._on_change: Callable[[bool], None] = lambda _held: None
        self._on_limits: Callable[[Limits], None] = lambda _limits: None
        self._limits: Limits | None = None
        threading.Thread(target=self._listen, name="orders", daemon=True).start()

    def obey(self, on_change: Callable[[bool], None], on_limits: Callable[[Limits], None]) -> None:
        """Call these with each new word, and with the last one now."""
        self._on_change, self._on_limits = on_change, on_limits
        on_change(self.held)
        if self._limits is not None:
            on_limits(self._limits)

    def wait_while_held(self) -> None:
        """Return when told to go on, or to go."""
        while self.held and not self._ending.wait(_LOOK_EVERY):
            pass

    def _listen(self) -> None:
        # Not sys.stdin: a forked process closes that first, and would wait for the lock that this thread holds.
        rest = b""
        while data := os.read(0, 4096):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._follow(line)
        self._ending.set()

    def _follow(self, line: bytes) -> None:
        try:
            command = host_command_decoder.decode(line)
        except msgspec.DecodeError as error:
            log.warning("unknown order: %s", error)
            return
        if isinstance(command, ApplyLimits):
            self._limits = command.limits
            self._on_limits(command.limits)
        else:
            self.held = isinstance(command, Hold)
            self._on_change(self.held)
