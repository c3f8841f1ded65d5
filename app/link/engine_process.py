"""What the window does to the engine's process when it no longer answers."""

import os
import signal
import socket
import sys

from core.client import engine_socket
from core.client.profile import Profile

_SOL_LOCAL, _LOCAL_PEERPID = 0, 2
"""Of macOS's <sys/un.h>; Python has no names for them."""


def at_other_end(descriptor: int) -> int | None:
    """The process at the other end of a connected Unix socket.

    The kernel knows it; a process id from a message may be in use by another process. None without a connection.
    """
    if sys.platform == "win32" or descriptor < 0:
        return None
    with socket.socket(fileno=os.dup(descriptor)) as connection:
        if sys.platform == "darwin":
            credentials = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID, 4)
        else:
            credentials = connection.getsockopt(
                socket.SOL_SOCKET, socket.SO_PEERCRED, 12
            )  # struct ucred: pid, uid, gid
    return int.from_bytes(credentials[:4], sys.byteorder)


def end(pid: int) -> None:
    """Ask an engine to end; harmless if it is gone, or is this very process."""
    _send(pid, signal.SIGTERM)


def kill(pid: int) -> None:
    """End an engine that does not answer; harmless likewise."""
    if sys.platform == "win32":
        _send(pid, signal.SIGTERM)  # ends it at once there
    else:
        _send(pid, signal.SIGKILL)


def _send(pid: int, how: signal.Signals) -> None:
    if pid <= 1 or pid == os.getpid():
        return
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        return


def is_of_another_user(profile: Profile) -> bool:
    """Whether another user's process listens: the socket may be in a temporary folder that all users share."""
    try:
        return engine_socket.is_of_another_user(profile.socket)
    except OSError:
        return False
