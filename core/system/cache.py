"""A cache folder with a size cap, shared by all processes of a profile; files are named by their SHA-256.

The least recently used files are removed first, but none with a lease. A lease is a file that lists what a process
uses, and is locked while the process runs; one whose lock is free belongs to a process that has ended.
"""

import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from core.api.errors import WorldError, os_errors_as
from core.api.project.fields import File
from core.system.file_lock import lock, try_lock, unlock

_ENTRY = re.compile(r"(?P<sha256>[0-9a-f]{64})(\.part|\.unpacked(\.\d+|\.size)?)?")


class Cache:
    """One process's access to the folder. Files that it uses stay until `close`."""

    def __init__(self, folder: Path, cap: int) -> None:
        """`cap` is the most bytes that the folder may hold.

        Raises:
            WorldError: the folder cannot be used.
        """
        self.folder, self.cap = folder, cap
        self._leased: set[str] = set()
        self._usable = partial(os_errors_as, "cache_not_usable", folder=str(folder))
        with self._usable():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked():
            self._lease = (folder / f"{os.getpid()}-{secrets.token_hex(4)}.lease").open("x", encoding="ascii")
            lock(self._lease.fileno())

    def find(self, file: File) -> Path | None:
        """Lease a file; returns its path if it is there and verified, None if it must be fetched."""
        path = self.folder / file.sha256
        with self._locked():
            self._lease_entry(file.sha256)
            try:
                if path.stat().st_size == file.size:
                    os.utime(path)  # the time of last use, by which files are removed
                    return path
                path.unlink()
            except FileNotFoundError:
                pass
        return None

    def path(self, file: File) -> Path:
        """Where it is, once it was fetched."""
        return self.folder / file.sha256

    def release(self, files: Iterable[File]) -> None:
        """This process no longer uses them."""
        self._leased -= {file.sha256 for file in files}
        with self._locked():
            self._lease.seek(0)
            self._lease.truncate()
            self._lease.writelines(f"{sha256}\n" for sha256 in self._leased)
            self._lease.flush()

    def part(self, file: File) -> Path:
        return self.folder / f"{file.sha256}.part"

    def add(self, file: File) -> Path:
        """Move the complete and verified part into the cache."""
        return self.part(file).replace(self.folder / file.sha256)

    def make_room(self, size: int) -> None:
        """Remove old files until `size` more bytes fit under the cap and onto the disk.

        Raises:
            WorldError: they do not fit even without all unused files.
        """
        with self._locked():
            entries = self._entries()
            total = sum(status.st_size for _, status in entries)
            free = shutil.disk_usage(self.folder).free
            allowed = min(self.cap, total + free)
            in_use = self._in_use()
            for path, status in entries:
                if total + size <= allowed:
                    return
                if path.name[:64] not in in_use:
                    path.unlink()
                    total -= status.st_size
        if total + size > self.cap:
            raise WorldError("cache_too_small", needed=total + size, allowed=self.cap)
        if total + size > allowed:
            raise WorldError("disk_too_full", folder=str(self.folder), needed=size, free=free)

    def unused(self) -> list[Path]:
        """Files that no process uses."""
        with self._locked():
            return self._unused()

    def remove_unused(self) -> None:
        with self._locked():
            for path in self._unused():
                path.unlink()

    def _unused(self) -> list[Path]:
        in_use = self._in_use()
        return [path for path, _ in self._entries() if path.name[:64] not in in_use]

    def close(self) -> None:
        """Release the lease and its lock, even if children of this process inherited it."""
        if not self._lease.closed:
            Path(self._lease.name).unlink(missing_ok=True)
            unlock(self._lease.fileno())
            self._lease.close()

    def _lease_entry(self, sha256: str) -> None:
        if sha256 not in self._leased:
            self._lease.write(f"{sha256}\n")
            self._lease.flush()
            self._leased.add(sha256)

    def _entries(self) -> list[tuple[Path, os.stat_result]]:
        """Cached files, least recently used first."""
        found = [path for path in self.folder.iterdir() if _ENTRY.fullmatch(path.name)]
        return sorted(((path, path.stat()) for path in found), key=lambda entry: entry[1].st_mtime)

    def _in_use(self) -> set[str]:
        used: set[str] = set()
        for lease in self.folder.glob("*.lease"):
            with lease.open(encoding="ascii") as file:
                if try_lock(file.fileno()):
                    lease.unlink()
                else:
                    used.update(file.read().split())
        return used

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Locks the folder against other processes. Short: nothing is downloaded under this lock."""
        with self._usable(), (self.folder / ".lock").open("a") as file:
            lock(file.fileno())
            yield
