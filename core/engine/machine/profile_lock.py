"""One engine per profile: a file lock, which the kernel releases when the process ends."""

import contextlib
import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from core.api.errors import WorldError, os_errors_as
from core.client.profile import Profile
from core.system.file_lock import try_lock


@contextlib.contextmanager
def held(profile: Profile) -> Iterator[None]:
    """Hold the profile's lock.

    Raises:
        WorldError: another engine has it, or the profile cannot be written.
    """
    usable = partial(os_errors_as, "profile_unusable", path=str(profile.path))
    with usable():
        profile.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(profile.lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _acquire(descriptor, profile.path)
        with usable():
            profile.prepare()
            _check_private(profile.runtime)
        yield
        _remove_runtime(profile)
    finally:
        os.close(descriptor)


def _remove_runtime(profile: Profile) -> None:
    """Remove the folder from the common temporary folder unless a window still has files in it."""
    if profile.runtime.parent != profile.path:
        with contextlib.suppress(OSError):
            profile.runtime.rmdir()


def _acquire(descriptor: int, profile: Path) -> None:
    if not try_lock(descriptor):
        holder = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
        raise WorldError("engine_already_running", path=str(profile), process=holder)
    # Only for error messages, so a full disk does not matter.
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())


def _check_private(folder: Path) -> None:
    """In the common temporary folder, another user could have created it."""
    status = folder.lstat()
    if sys.platform != "win32" and status.st_uid != os.getuid():
        raise WorldError("socket_of_another_user", path=str(folder))
    folder.chmod(0o700)
