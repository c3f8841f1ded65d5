"""`python -m core.system.instances end|restart FOLDER`: the running windows, commands and engines of an installation.

A package calls it as root before it is removed (end) and after it was replaced (restart). SIGTERM comes first: engines
end their sessions and write their record; what is left after `GRACE` seconds is killed, with all that was started
meanwhile.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

from core.system.priority import raise_all

GRACE = 30.0
_POLL = 0.1
_ROUNDS = 3
"""A process that is killed may just have started another one."""
_OF_WINDOWS: tuple[list[str], ...] = ([], ["--in-tray"], ["open"])


def running(folder: str) -> list[psutil.Process]:
    """Processes whose program or library path lies in `folder`; not this one and its parents."""
    own = {os.getpid(), *(process.pid for process in psutil.Process().parents())}
    return [process for process in psutil.process_iter() if process.pid not in own and _is_of(process, folder)]


def end(folder: str, grace: float = GRACE) -> int:
    """End all instances; returns how many there were."""
    found = running(folder)
    # Sessions have idle priority: on a busy computer they took longer than the grace, and even killed they stayed.
    raise_all(process.pid for process in found)
    _signal([process for process in found if _takes_signals(process)], signal.SIGTERM)
    _wait(found, grace)
    for _ in range(_ROUNDS):
        left = running(folder)
        raise_all(process.pid for process in left)
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        _wait(left, 1.0)
    return len(found)


def restart(folder: str) -> int:
    """Ask windows and engines to start again from their files; returns how many there are.

    A session ends in order before, and continues afterwards. On Windows none is asked: its installer ends them.
    """
    if sys.platform == "win32":
        return 0
    found = [process for process in running(folder) if _is_engine(process) or _arguments(process) in _OF_WINDOWS]
    _signal(found, signal.SIGUSR1)
    return len(found)


def _wait(processes: list[psutil.Process], seconds: float) -> None:
    """Until all have ended, also those that their parent has not reaped, as in a container without an init."""
    deadline = time.monotonic() + seconds
    while any(map(lives, processes)) and time.monotonic() < deadline:
        time.sleep(_POLL)


def lives(process: psutil.Process) -> bool:
    """Whether it runs; one that its parent has not reaped yet has ended."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _takes_signals(process: psutil.Process) -> bool:
    """Sessions and hosts are ended by what started them."""
    return _is_engine(process) or _arguments(process) is not None


def _is_engine(process: psutil.Process) -> bool:
    return "core.engine" in _command(process)


def _arguments(process: psutil.Process) -> list[str] | None:
    """The first argument of a front end, if it has one; None: it is not a front end."""
    words = _command(process)
    place = next((number for number, word in enumerate(words[:3]) if word.endswith("/idlehive")), None)
    return None if place is None else words[place + 1 : place + 2]


def _is_of(process: psutil.Process, folder: str) -> bool:
    """A program in a container or another root has other files under the same names."""
    try:
        if Path(f"/proc/{process.pid}/root").readlink() != Path("/proc/self/root").readlink():
            return False
        programs = [os.path.realpath(word) for word in _command(process)[:3] if word.startswith("/")]
        libraries = process.environ().get("PYTHONPATH", "").split(os.pathsep)
    except (psutil.Error, OSError):
        return False
    return folder in libraries or any(program.startswith(f"{folder}/") for program in programs)


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _signal(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            continue


if __name__ == "__main__":
    {"end": end, "restart": restart}[sys.argv[1]](sys.argv[2])
