"""Memory that a process has freed, and the C library keeps for the next time."""

import ctypes
import sys


def give_back() -> None:
    """Return it to the system, where the C library can (malloc_trim(3), glibc): what a pass through a model took is
    most of a session, and nothing needs it before the next one."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)
