"""What a killed engine or a killed leash left behind: folders, and processes known by the tag that the leash gives."""

import contextlib
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from core.system.subreaper import TAG

if TYPE_CHECKING:
    # Where it is used it is imported in the function: an engine that has nothing to clear up starts faster without.
    import psutil

FOLDER_PREFIX = "session-"
_KILL_PATIENCE = 2.0


def processes_of(folder: Path) -> list["psutil.Process"]:
    """Living processes whose tag names the folder or one in it: ours for certain, in whatever group they are."""
    import psutil

    return [process for process in psutil.process_iter() if _is_in(folder, _tag(process))]


def kill_all(folder: Path) -> int:
    """Kill what still carries the folder's tag and remove the folder; how many processes there were. Blocks."""
    import psutil

    killed = set()
    deadline = time.monotonic() + _KILL_PATIENCE
    # The leash last: while it lives it adopts what the killed leave, and cleans up behind us.
    while (rest := processes_of(folder)) and time.monotonic() < deadline:
        for process in sorted(rest, key=lambda process: process.create_time(), reverse=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
            killed.add(process.pid)
        time.sleep(0.02)
    shutil.rmtree(folder, ignore_errors=True)
    return len(killed)


def sweep(runtime: Path) -> int:
    """Clear what sessions of an earlier engine left in the runtime folder; how many processes were killed."""
    return sum(kill_all(folder) for folder in sorted(runtime.glob(f"{FOLDER_PREFIX}*")) if folder.is_dir())


def _is_in(folder: Path, tag: str | None) -> bool:
    return tag is not None and Path(tag).is_relative_to(folder)


def _tag(process: "psutil.Process") -> str | None:
    import psutil

    try:
        return None if process.status() == psutil.STATUS_ZOMBIE else process.environ().get(TAG)
    except (psutil.Error, OSError):
        return None
