"""The signals by which a person or the system ends a command."""

import signal
import sys

ENDING: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)
if sys.platform != "win32":
    ENDING = (*ENDING, signal.SIGHUP)
