"""Locks of files against other processes, which the system releases when a process ends.

Unix: flock(2). Windows: a byte far behind the content, since its locks also keep others from reading what is locked.
"""

import os
import sys

if sys.platform == "win32":
    import msvcrt

    _PLACE = 1 << 30

    def lock(descriptor: int) -> None:
        """Wait for the lock. Raises OSError: it could not be had."""
        _locking(descriptor, msvcrt.LK_LOCK)  # tries for ten seconds

    def try_lock(descriptor: int) -> bool:
        """Take the lock if nobody has it; whether that worked. Raises OSError."""
        try:
            _locking(descriptor, msvcrt.LK_NBLCK)
        except PermissionError:
            return False
        return True

    def unlock(descriptor: int) -> None:
        _locking(descriptor, msvcrt.LK_UNLCK)

    def _locking(descriptor: int, how: int) -> None:
        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, _PLACE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, how, 1)
        finally:
            os.lseek(descriptor, before, os.SEEK_SET)

else:
    import fcntl

    def lock(descriptor: int) -> None:
        """Wait for the lock. Raises OSError: it could not be had."""
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def try_lock(descriptor: int) -> bool:
        """Take the lock if nobody has it; whether that worked. Raises OSError."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
