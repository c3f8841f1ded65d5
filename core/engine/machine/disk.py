"""The profile's folders: how much they hold, and what of it can go."""

import shutil
from collections.abc import Iterable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from core.api.disk import DiskUse
from core.client.profile import Profile
from core.engine.machine.threads import in_thread
from core.system.cache import Cache

_TIMEOUT = 30.0
"""Seconds for a slow disk."""


class Disk:
    """Files are read and deleted on a thread of its own."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    async def use(self, *, in_session: bool) -> DiskUse:
        """`in_session`: a session runs and may be writing its copy."""
        return await in_thread(partial(_use, self._profile, in_session), _TIMEOUT)

    async def free(self, *, in_session: bool) -> DiskUse:
        """Delete what can go; what is left.

        Raises:
            WorldError: the cache cannot be used.
        """
        await in_thread(partial(_free, self._profile, in_session), _TIMEOUT)
        return await self.use(in_session=in_session)


def _use(profile: Profile, in_session: bool) -> DiskUse:
    database = _size(profile.path.glob(f"{profile.database.name}*"))
    folders = profile.cache, profile.copies, profile.practice, profile.logs, profile.compute
    data, copies, practice, logs, compute = (_size(folder.rglob("*")) for folder in folders)
    with closing(Cache(profile.cache, 0)) as cache:
        unused = _size(cache.unused())
    to_free = unused + _size(_old_logs(profile)) + (0 if in_session else copies)
    known = data + copies + practice + logs + compute + database
    other = max(0, _size(profile.path.rglob("*")) - known)
    free = shutil.disk_usage(profile.path).free
    return DiskUse(data, copies, practice, database, logs, other, to_free, free, compute)


def _free(profile: Profile, in_session: bool) -> None:
    with closing(Cache(profile.cache, 0)) as cache:
        cache.remove_unused()
    for log in _old_logs(profile):
        log.unlink(missing_ok=True)
    if not in_session:
        shutil.rmtree(profile.copies, ignore_errors=True)
        profile.copies.mkdir(mode=0o700, exist_ok=True)


def _old_logs(profile: Profile) -> list[Path]:
    return list(profile.logs.glob("*.log.*"))


def _size(paths: Iterable[Path]) -> int:
    """Files that disappear meanwhile count as nothing."""
    total = 0
    for path in paths:
        with suppress(OSError):
            status = path.lstat()
            total += status.st_size if not path.is_dir() else 0
    return total
