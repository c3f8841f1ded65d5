"""Replaces a portable build by a new one. The archive was verified before."""

import ctypes
import errno
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from core.api.errors import WorldError

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_LONGEST_START = 120.0


def staging_beside(root: Path) -> Path:
    """Where the new build is made ready: on the same file system, so that one step exchanges the two."""
    return root.with_name(f".{root.name}-new")


def replace(root: Path, archive: Path, version: str) -> None:
    """Exchange the build in `root` for that of `archive`, which lies in the staging folder, and delete the old one.

    What runs of the old one goes on; it finds the new files.

    Raises:
        WorldError: the archive is no portable build of this version, or does not run here.
        OSError: the disk refuses. `root` is as it was.
    """
    staging = archive.parent
    new = _unpacked(archive, staging / "unpacked")
    _try(new, version)
    if sys.platform == "win32":
        raise WorldError("release_not_usable", detail=os.strerror(errno.ENOTSUP))
    os.sync()  # after a power cut, the exchanged files must be whole
    exchange(new, root)
    shutil.rmtree(staging, ignore_errors=True)


def exchange(new: Path, root: Path) -> None:
    """Give each folder the name of the other, in one step where the file system can (renameat2(2))."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(root), _RENAME_EXCHANGE) == 0:
        return
    number = ctypes.get_errno()
    if number not in (errno.EINVAL, errno.ENOSYS):
        raise OSError(number, os.strerror(number), str(root))
    old = new.with_name("old")
    root.rename(old)
    try:
        new.rename(root)
    except OSError:
        old.rename(root)
        raise


def _unpacked(archive: Path, folder: Path) -> Path:
    """The only folder in the archive."""
    try:
        with tarfile.open(archive, "r:xz") as tar:
            # Older Pythons have no filter; the archive is signed.
            tar.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
            tar.extractall(folder)  # noqa: S202 - what is signed is trusted
    except (tarfile.TarError, EOFError) as error:
        raise WorldError("release_not_usable", detail=str(error)) from None
    found = list(folder.iterdir())
    if len(found) != 1 or not (found[0] / "idlehive").is_file():
        raise WorldError("release_not_usable", detail=f"idlehive: {os.strerror(errno.ENOENT)}")
    return found[0]


def _try(new: Path, version: str) -> None:
    """It must start with this computer's Python and say its version."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(new / "idlehive"), "--version"]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=_LONGEST_START, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise WorldError("release_not_usable", detail=str(error)) from None
    if done.stdout.strip() != f"idlehive {version}":
        raise WorldError("release_not_usable", detail=(done.stderr or done.stdout).strip()[-200:])
