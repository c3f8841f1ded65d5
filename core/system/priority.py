"""How a session stands back behind everything else on the computer: idle priority for processor, disk and memory.

Set once, before the first thread is made: threads and processes inherit it from whoever makes them.
"""

import contextlib
import ctypes
import os
import platform
import sys
from pathlib import Path

_NICEST = 19
_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
"""Numbers of the system call, which the C library does not wrap (linux: include/uapi/asm-generic/unistd.h)."""
_IOPRIO_WHO_PROCESS = 1
_IOPRIO_CLASS_IDLE = 3 << 13
_LEASH = b"core.system.subreaper"
_FIRST_TO_GO = "800"
"""Of 1000: when memory runs out the kernel ends this session, not what the volunteer works with."""
_PRIO_DARWIN_PROCESS = 4
_PRIO_DARWIN_BG = 0x1000


def lower_priority() -> None:
    """Give this process, and all that it starts from now on, only what nobody else wants. Never fails: what the system
    refuses is left as it is.

    Linux: SCHED_IDLE and nice 19 (sched(7)), the idle class for disks (ioprio_set(2)), first in line when memory runs
    out. macOS: the background band, for processor, disk and network (setpriority(2)). Elsewhere: nice alone.
    """
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, _NICEST)
    if sys.platform == "linux":
        _lower_priority_on_linux()
    elif sys.platform == "darwin":
        ctypes.CDLL(None).setpriority(_PRIO_DARWIN_PROCESS, 0, _PRIO_DARWIN_BG)


def _lower_priority_on_linux() -> None:
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    # Where the kernel groups tasks by session (sched(7), autogroup), priorities count within the group alone.
    if _is_session_of_our_own():
        _write("/proc/self/autogroup", str(_NICEST))
    _write("/proc/self/oom_score_adj", _FIRST_TO_GO)
    if number := _IOPRIO_SET.get(platform.machine()):
        ctypes.CDLL(None).syscall(number, _IOPRIO_WHO_PROCESS, 0, _IOPRIO_CLASS_IDLE)


def _is_session_of_our_own() -> bool:
    """Whether a leash leads this session, and not the shell in which somebody works."""
    try:
        return _LEASH in Path(f"/proc/{os.getsid(0)}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def _write(path: str, text: str) -> None:
    with contextlib.suppress(OSError):
        Path(path).write_text(text, encoding="ascii")
