"""The runtimes in a profile's folder `compute`: the current one, one that is being installed, and the package cache.

`current` is a link to the folder of the runtime in use; replacing it is one atomic step. A folder that it does not name
is unfinished or old.
"""

import functools
import os
import secrets
import shutil
import sys
from pathlib import Path

from core.api.installation.compute_runtime import Build
from core.client.installation import ROOT
from core.runtime import in_wsl, plan

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
LOCKS = ROOT / "resources" / "runtime"
_AGREED = "agreed"
_FINISHED = "finished"
"""A file in each runtime that was ever in use."""


@functools.cache
def locks() -> tuple[plan.Lock, ...]:
    """Those that this version of Idlehive comes with."""
    builds: tuple[Build, ...] = ("cpu", "cuda")  # macOS has no CUDA
    found = {build: LOCKS / f"{build}.lock" for build in builds}
    return tuple(plan.read(build, path.read_text(encoding="utf-8")) for build, path in found.items() if path.exists())


def libraries(runtime: Path) -> Path:
    """Where its packages lie. They are no environment with a Python of its own: a portable build may be moved."""
    return runtime / "libraries"


class RuntimeStore:
    """Paths and changes; raises OSError where the disk refuses."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self._link = folder / "current"
        self._removed, self._stopped = folder / "removed", folder / "stopped"

    @property
    def current(self) -> Path | None:
        """The folder of the runtime in use; None if there is none that this version can use."""
        try:
            found = self._link.readlink().name
        except OSError:
            return None
        usable = plan.will_do(found, locks(), PYTHON) and libraries(self.folder / found).exists()
        return self.folder / found if usable else None

    @property
    def build(self) -> Build:
        """Of the runtime in use."""
        return "cuda" if self.current is not None and self.current.name.startswith("cuda") else "cpu"

    def library(self, name: str) -> Path | None:
        """The folder of a library of the runtime in use."""
        found = None if self.current is None else libraries(self.current) / name
        return found if found is not None and found.exists() else None

    @property
    def is_removed(self) -> bool:
        """The volunteer has removed it, or stopped its installation."""
        return self._removed.exists() or self.is_stopped

    @property
    def is_stopped(self) -> bool:
        """What was downloaded stays for the next installation."""
        return self._stopped.exists()

    def has_leftovers(self, *, keep_cache: bool) -> bool:
        """Whether `sweep` would delete something."""
        return bool(self._leftovers(keep_cache))

    def begin(self, lock: plan.Lock) -> Path:
        """The path for a new runtime; it is no longer marked as removed."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._removed.unlink(missing_ok=True)
        self._stopped.unlink(missing_ok=True)
        return self.folder / f"{plan.name(lock, PYTHON)}-{secrets.token_hex(2)}"

    def switch_to(self, runtime: Path) -> None:
        """Use this runtime from now on."""
        (runtime / _FINISHED).touch()
        if sys.platform != "win32":
            os.sync()  # after a power cut, what is in use must be whole
        new = self.folder / f"link-{secrets.token_hex(4)}"
        new.symlink_to(runtime.name)
        new.replace(self._link)

    def stop(self) -> None:
        """Install nothing until the volunteer asks for it."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._stopped.touch()

    def remove(self) -> None:
        """Use none from now on; `sweep` deletes it."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._removed.touch()
        self._stopped.unlink(missing_ok=True)
        self._link.unlink(missing_ok=True)

    def sweep(self, *, keep_cache: bool) -> None:
        """Delete all that is not in use; no session may run with it."""
        for entry in self._leftovers(keep_cache):
            _delete(entry)

    def sweep_unfinished(self) -> None:
        """Delete what installations have left that were interrupted. An older runtime may still be a session's."""
        for entry in self._leftovers(keep_cache=True):
            if not (entry / _FINISHED).exists():
                _delete(entry)

    def _leftovers(self, keep_cache: bool) -> list[Path]:
        kept = {self.current, self._link, self._removed, self._stopped, self.cache if keep_cache else None}
        return [entry for entry in self.folder.iterdir() if entry not in kept] if self.folder.is_dir() else []


class StoreInWsl(RuntimeStore):
    """The runtime lies in a distribution of WSL; here are its marker and the distribution's disk."""

    @property
    def current(self) -> Path | None:
        return None if in_wsl.finished(self.folder) is None else self.folder

    @property
    def has_consent(self) -> bool:
        """The volunteer has agreed that WSL is set up."""
        return (self.folder / _AGREED).exists()

    def agree(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.folder / _AGREED).touch()

    def remove(self) -> None:
        super().remove()
        for name in (in_wsl.marker(self.folder), self.folder / _AGREED):
            name.unlink(missing_ok=True)

    def sweep(self, *, keep_cache: bool) -> None:  # noqa: ARG002 - the cache lies in the distribution
        if self.is_removed and not self.is_stopped:
            self.delete_distribution()

    def delete_distribution(self) -> None:
        """With all that is in it."""
        distribution = self.folder / in_wsl.DISTRIBUTION
        if distribution.exists():
            in_wsl.Setup(self.folder, in_wsl.program()).remove()
            shutil.rmtree(distribution, ignore_errors=True)

    def _leftovers(self, keep_cache: bool) -> list[Path]:  # noqa: ARG002 - as above
        distribution = self.folder / in_wsl.DISTRIBUTION
        return [distribution] if self._removed.exists() and distribution.exists() else []


def _delete(entry: Path) -> None:
    shutil.rmtree(entry, ignore_errors=True) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
