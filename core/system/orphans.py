"""Cleans up after a killed engine or subreaper: session folders, and processes that carry the subreaper's tag."""

import contextlib
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Imported inside the functions: an engine with nothing to clean up starts faster without it.
    import psutil

FOLDER_PREFIX = "session-"
TAG = "IDLEHIVE_SESSION"
"""Environment variable with the session folder: every process of the session inherits it, which identifies it."""
_KILL_TIMEOUT = 2.0


def processes_of(folder: Path) -> list["psutil.Process"]:
    """Living processes whose tag names the folder or a folder in it. They are ours, whatever group they are in."""
    import psutil

    return [process for process in psutil.process_iter() if _is_in(folder, _tag(process))]


def kill_all(folder: Path) -> int:
    """Kill all processes with the folder's tag and remove the folder. Blocks; returns how many were killed."""
    import psutil

    killed = set()
    deadline = time.monotonic() + _KILL_TIMEOUT
    # The oldest last, which is the subreaper: while it lives it adopts and kills the orphans.
    while (rest := processes_of(folder)) and time.monotonic() < deadline:
        for process in sorted(rest, key=lambda process: process.create_time(), reverse=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
            killed.add(process.pid)
        time.sleep(0.02)
    shutil.rmtree(folder, ignore_errors=True)
    return len(killed)


def sweep(runtime: Path) -> int:
    """Clean up after the sessions of an earlier engine; returns how many processes were killed."""
    return sum(kill_all(folder) for folder in sorted(runtime.glob(f"{FOLDER_PREFIX}*")) if folder.is_dir())


def _is_in(folder: Path, tag: str | None) -> bool:
    return tag is not None and Path(tag).is_relative_to(folder)


def _tag(process: "psutil.Process") -> str | None:
    import psutil

    try:
        return None if process.status() == psutil.STATUS_ZOMBIE else process.environ().get(TAG)
    except (psutil.Error, OSError):
        return None
