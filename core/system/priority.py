"""Idle priority for processor, disk and memory, so that a session never slows down other programs.

Call it before the first thread starts: threads and child processes inherit the priority.
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
_SUBREAPER = b"core.system.subreaper"
_OOM_SCORE = "800"
"""Of 1000: when memory runs out, the kernel kills this session, not the volunteer's programs."""
_PRIO_DARWIN_PROCESS = 4
_PRIO_DARWIN_BG = 0x1000


def lower_priority() -> None:
    """Give this process and its future children idle priority. Never fails: it skips what the system refuses.

    Linux: SCHED_IDLE and nice 19 (sched(7)), the idle class for disks (ioprio_set(2)), the first choice of the
    OOM killer. macOS: the background band, for processor, disk and network (setpriority(2)). Elsewhere: nice alone.
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
    # With autogroup (sched(7)) a nice value only counts within the session, so the session gets one too.
    if _is_led_by_subreaper():
        _write("/proc/self/autogroup", str(_NICEST))
    _write("/proc/self/oom_score_adj", _OOM_SCORE)
    if number := _IOPRIO_SET.get(platform.machine()):
        ctypes.CDLL(None).syscall(number, _IOPRIO_WHO_PROCESS, 0, _IOPRIO_CLASS_IDLE)


def _is_led_by_subreaper() -> bool:
    """Whether a subreaper leads this session, not a person's shell."""
    try:
        return _SUBREAPER in Path(f"/proc/{os.getsid(0)}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def _write(path: str, text: str) -> None:
    with contextlib.suppress(OSError):
        Path(path).write_text(text, encoding="ascii")
