"""Idle priority for processor, disk and memory, so that a session never slows down other programs."""

import contextlib
import ctypes
import os
import platform
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

PROMPTLY = "--promptly"
"""Argument of a program for which a person waits: it starts like any other one, and lowers its priority after that."""

_PROMPT, _NICEST = 1, 19
_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
"""Numbers of the system call, which the C library does not wrap (linux: include/uapi/asm-generic/unistd.h)."""
_IOPRIO_WHO_PROCESS = 1
_IOPRIO_CLASS_IDLE = 3 << 13
_SUBREAPER = b"core.system.subreaper"
_OOM_SCORE = "800"
"""Of 1000: when memory runs out, the kernel kills this session, not the volunteer's programs."""
_GROUP_TIMEOUT = 1.0
"""Seconds; the kernel lets ordinary people change ten groups a second."""
_PRIO_DARWIN_PROCESS = 4
_PRIO_DARWIN_BG = 0x1000


def start_promptly() -> None:
    """Start nearly as fast as other programs do; `lower_priority` ends it.

    The kernel counts the time of nice processes apart, so the engine does not take this one for another program that
    keeps the processor busy.
    """
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, _PROMPT)


def lower_priority() -> None:
    """Give this process idle priority, and all that it has started or will start. Never fails: it skips what the system
    refuses.

    Linux: SCHED_IDLE and nice 19 (sched(7)), the idle class for disks (ioprio_set(2)), the first choice of the
    OOM killer. macOS: the background band, for processor, disk and network (setpriority(2)). Elsewhere: nice alone.
    """
    # With autogroup (sched(7)) a nice value only counts within the session, so the session gets one too.
    if sys.platform == "linux" and _is_led_by_subreaper():
        _write("/proc/self/autogroup", str(_NICEST))
    lowered: set[int] = set()
    # Until none is left: what begins meanwhile inherits the priority that its origin still had.
    while rest := _threads() - lowered:
        for thread in rest:
            _lower(thread)
        lowered |= rest


def lower_this_thread() -> None:
    """Give it idle priority, and with that what it starts. The others, and what they fork, keep theirs, which nobody
    may raise again."""
    if sys.platform == "linux" and os.getsid(0) == os.getpid():
        # What is forked has a session of its own, too.
        _write("/proc/self/autogroup", str(_NICEST))
    _lower(threading.get_native_id())


def raise_family(root: int) -> None:
    """Let a process and its descendants end as fast as other programs would. Returns at once; never fails.

    At idle priority a busy computer takes half a minute for the end even of a killed process, and its memory stays as
    long. Linux lets anybody give a group of processes (autogroup) its weight back, but only an administrator a process.
    """
    threading.Thread(target=_raise_family, args=(root,), name="raise priority", daemon=True).start()


def raise_all(processes: Iterable[int]) -> None:
    """Likewise for these processes; returns when all is done that the system allows."""
    if sys.platform != "linux":
        return
    groups: dict[int, int] = {}
    for process in processes:
        with contextlib.suppress(OSError):
            groups[os.getsid(process)] = process
            for entry in Path(f"/proc/{process}/task").iterdir():
                os.setpriority(os.PRIO_PROCESS, int(entry.name), 0)
                os.sched_setscheduler(int(entry.name), os.SCHED_OTHER, os.sched_param(0))
    for process in groups.values():
        raise_group(process)


def raise_group(process: int) -> None:
    """The group of a session's process, or of the session's subreaper, is like those of other programs again."""
    deadline = time.monotonic() + _GROUP_TIMEOUT
    while True:
        try:
            Path(f"/proc/{process}/autogroup").write_bytes(b"0")
        except BlockingIOError:
            if time.monotonic() < deadline:
                time.sleep(0.02)
                continue
        except OSError:
            pass  # it has ended, or this system has no such groups
        return


def _raise_family(root: int) -> None:
    import psutil

    with contextlib.suppress(psutil.Error):
        raise_all([root, *(process.pid for process in psutil.Process(root).children(recursive=True))])


def _lower(thread: int) -> None:
    if sys.platform == "win32":
        return  # sessions run in WSL, and there as on Linux
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, thread, _NICEST)
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
        _write(f"/proc/{thread}/oom_score_adj", _OOM_SCORE)
        if number := _IOPRIO_SET.get(platform.machine()):
            ctypes.CDLL(None).syscall(number, _IOPRIO_WHO_PROCESS, thread, _IOPRIO_CLASS_IDLE)
    elif sys.platform == "darwin":
        ctypes.CDLL(None).setpriority(_PRIO_DARWIN_PROCESS, thread, _PRIO_DARWIN_BG)


def _threads() -> set[int]:
    """Of this process and its descendants; where threads have no priority of their own, the processes."""
    import psutil

    me = psutil.Process()
    threads: set[int] = set()
    for process in (me, *me.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            threads |= {thread.id for thread in process.threads()} if sys.platform == "linux" else {process.pid}
    return threads


def _is_led_by_subreaper() -> bool:
    """Whether a subreaper leads this session, not a person's shell."""
    try:
        return sys.platform != "win32" and _SUBREAPER in Path(f"/proc/{os.getsid(0)}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def _write(path: str, text: str) -> None:
    with contextlib.suppress(OSError):
        Path(path).write_text(text, encoding="ascii")
