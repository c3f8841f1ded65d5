"""The most memory that this process had at one time since a moment. Linux alone lets a process ask for that."""

import sys
from pathlib import Path

_PROCESS = Path("/proc/self")


def begin() -> int | None:
    """Forget earlier peaks (proc_pid_clear_refs(5)), and return the bytes that are resident now; None: unknown."""
    if sys.platform != "linux":
        return None
    try:
        (_PROCESS / "clear_refs").write_text("5")
    except OSError:
        return None
    return peak()


def peak() -> int:
    """Bytes that were resident at one time since then."""
    status = (_PROCESS / "status").read_text()
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM:"))
