"""Runs a command and leaves none of its processes behind.

    python -m core.system.subreaper [--grace SECONDS] SESSION_FOLDER -- COMMAND...

A session forks processes that outlive their parent, some of them in sessions of their own. The subreaper leads the
process group, adopts every orphan (`PR_SET_CHILD_SUBREAPER`, Linux) and lives exactly as long as the command. When the
command ends or the subreaper's parent dies, it kills and reaps all remaining processes, removes the session folder, and
exits with the command's code (128 + signal if a signal ended it). The command uses stdin, stdout and stderr.

Standard library only, so that it starts fast and stays small.
"""

import contextlib
import math
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NoReturn

from core.system.orphans import TAG

if sys.platform == "win32":
    raise ImportError("sessions need fork, which Windows lacks: there they run in WSL")

GRACE = 5.0
"""Seconds the command has to end by itself after SIGTERM, or after end of file on stdin when the parent dies."""

_AGAIN = 1.0
"""Seconds after SIGTERM from which on another one means at once: systemd sends one to every process of a service."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_POLL = 0.5
_COMMAND_NOT_FOUND = 127


def run(
    folder: Path, command: list[str] | Callable[[], NoReturn], grace: float = GRACE, parent: int | None = None
) -> int:
    """Run `command` to its end; its exit code. See the module's docstring.

    A function runs in a forked process. `parent` is whose end ends it, if that is known from before this one began.
    """
    parent = parent or os.getppid()
    if os.getpgrp() != os.getpid():
        os.setsid()
    wakeup = _wakeup_pipe()
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGUSR1)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    child = _start(command, folder, wakeup)
    try:
        return _exit_code(_watch(child, parent, grace, wakeup))
    finally:
        _kill_the_rest()
        shutil.rmtree(folder, ignore_errors=True)


def end_children_with_this_process() -> None:
    """From now on the kernel kills what this process's main thread forks, and what those fork, when the parent ends.

    So a session ends even if its subreaper is killed together with whatever would clean up after that one. For forks
    alone: a program that `subprocess` starts is not bound, nor is a child of another thread, since Linux would end it
    with that thread (PR_SET_PDEATHSIG, prctl(2)). Linux only; elsewhere the next start cleans up.
    """
    if sys.platform != "linux":
        return
    prctl, forking = _libc_prctl(), threading.local()  # two threads may fork at once

    def remember() -> None:
        forking.parent = os.getpid() if threading.current_thread() is threading.main_thread() else 0

    def bind() -> None:
        if forking.parent:
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != forking.parent:  # it ended before
                os._exit(128 + signal.SIGKILL)

    os.register_at_fork(before=remember, after_in_child=bind)


def relatives() -> list[int]:
    """Descendants of this process and members of its group, without itself."""
    me, group, known = os.getpid(), os.getpgrp(), _processes()
    family = {me}
    grown = True
    while grown:
        found = {pid for pid, (parent, pgid) in known.items() if parent in family or pgid == group}
        grown = not found <= family
        family |= found
    return sorted(family - {me})


def _watch(child: int, parent: int, grace: float, wakeup: int) -> int:
    """Wait status of `child`. It gets SIGTERM when this process does, and SIGKILL when the grace period is over, or
    this process gets another SIGTERM. Without a parent nobody waits for what takes longer than `GRACE`.
    """
    deadline = math.inf
    while True:
        status = _reap(child)
        if status is not None:
            return status
        if deadline == math.inf and _terminations:
            deadline = _terminations[0][1] + grace
            os.kill(child, signal.SIGTERM)
        elif os.getppid() != parent:
            deadline = min(deadline, time.monotonic() + min(grace, GRACE))
        if time.monotonic() >= deadline or _is_hurried():
            os.kill(child, signal.SIGKILL)
        select.select([wakeup], [], [], _POLL)
        with contextlib.suppress(BlockingIOError):
            os.read(wakeup, 4096)


def _is_hurried() -> bool:
    """Whether the same signal came again: at log-out there may be SIGHUP, and then SIGTERM."""
    if not _terminations:
        return False
    number, first = _terminations[0]
    return any(again == number and at > first + _AGAIN for again, at in _terminations)


def _reap(child: int) -> int | None:
    """Reap ended processes, adopted ones too; the wait status of `child` if it is among them."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == child:
            return status
        if pid == 0:
            return None


def _kill_the_rest() -> None:
    """SIGKILL until no relative is left. On Linux every orphan has become a child, so ECHILD proves it."""
    while True:
        rest = relatives()
        for pid in rest:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            if not rest:
                return
        time.sleep(0.01)


def _start(command: list[str] | Callable[[], NoReturn], folder: Path, wakeup: int) -> int:
    subreaper_pid = os.getpid()
    child = os.fork()
    if child:
        return child
    # This is the child until exec: an error here must end it, never return into the parent's code.
    try:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == subreaper_pid:
            # Libraries put sockets into the temporary folder, and a killed process leaves them there.
            os.environ |= {TAG: str(folder), "TMPDIR": str(folder)}
            if callable(command):
                _forget_signals(wakeup)
                command()
            else:
                _execute(command)
    finally:
        os._exit(_COMMAND_NOT_FOUND)


def _execute(command: list[str]) -> None:
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]} cannot be started: {error.strerror}.\n".encode())


def _forget_signals(wakeup: int) -> None:
    """Handle them as a new program does."""
    os.close(signal.set_wakeup_fd(-1))
    os.close(wakeup)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGUSR1):
        signal.signal(number, signal.SIG_DFL)


_terminations: list[tuple[int, float]] = []
"""The signals by which this process was asked to end, and when, by the monotonic clock."""


def _wakeup_pipe() -> int:
    """Turn signals into bytes on a pipe (signal.set_wakeup_fd); returns the file descriptor to wait on."""

    def terminate(number: int, _frame: FrameType | None) -> None:
        _terminations.append((number, time.monotonic()))

    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, terminate)
    for number in (signal.SIGCHLD, signal.SIGUSR1):
        signal.signal(number, lambda _number, _frame: None)
    return reader


def _prctl(option: int, value: int) -> None:
    """Linux only; elsewhere the polling in `_watch` and the process group do the work."""
    if sys.platform == "linux":
        _libc_prctl()(option, value, 0, 0, 0)


def _libc_prctl() -> Callable[..., int]:
    import ctypes

    found: Callable[..., int] = ctypes.CDLL(None, use_errno=True).prctl
    return found


def _processes() -> dict[int, tuple[int, int]]:
    """Parent and process group of every living process, zombies left out."""
    if sys.platform == "linux":
        return dict(filter(None, map(_from_proc, (entry for entry in Path("/proc").iterdir() if entry.name.isdigit()))))
    table = subprocess.run(["ps", "-axo", "pid=,ppid=,pgid=,stat="], capture_output=True, text=True, check=True).stdout
    rows = [row.split() for row in table.splitlines()]
    return {int(pid): (int(ppid), int(pgid)) for pid, ppid, pgid, state, *_ in rows if not state.startswith("Z")}


def _from_proc(entry: Path) -> tuple[int, tuple[int, int]] | None:
    try:
        # The name is in parentheses and may contain any character, so parsing starts after the last one.
        state, ppid, pgid = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:3]
    except (OSError, ValueError):
        return None
    return None if state == "Z" else (int(entry.name), (int(ppid), int(pgid)))


def _exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def main(arguments: list[str]) -> int:
    try:
        split = arguments.index("--")
        *options, folder = arguments[:split]
        grace = float(options[1]) if options else GRACE
        command = [arguments[split + 1], *arguments[split + 2 :]]
    except (ValueError, IndexError):
        print("usage: python -m core.system.subreaper [--grace SECONDS] SESSION_FOLDER -- COMMAND...", file=sys.stderr)
        return 2
    return run(Path(folder), command, grace)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
