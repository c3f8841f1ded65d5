"""The engine's socket on Linux and macOS: a Unix socket that only its owner may open."""

import os
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from core.api.errors import WorldError

if TYPE_CHECKING:
    import asyncio

if sys.platform == "win32":
    raise ImportError("Python has no Unix sockets on Windows")


def connect(path: Path, timeout: float) -> socket.socket:
    """A connection to the engine; `timeout` in seconds for it and every answer.

    Raises:
        FileNotFoundError, NotADirectoryError, ConnectionRefusedError: none is running.
        OSError: the socket cannot be reached.
        WorldError: it belongs to another user.
    """
    # In the common temporary folder, another user could have created the socket.
    if is_of_another_user(path):
        raise WorldError("socket_of_another_user", path=str(path))
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(timeout)
    try:
        connection.connect(os.fspath(path))
    except OSError:
        connection.close()
        raise
    return connection


def is_of_another_user(path: Path) -> bool:
    """Whether another user's process listens; raises OSError: none does."""
    return path.stat().st_uid != os.getuid()


async def serve(
    client: "Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]", path: Path, limit: int
) -> "asyncio.Server":
    """Listen for front ends, whose lines have at most `limit` bytes. Raises OSError."""
    import asyncio  # for the engine alone: a short command connects without it

    # Other users may not connect, not even in the moment before a chmod.
    before = os.umask(0o177)
    try:
        return await asyncio.start_unix_server(client, path, limit=limit)
    finally:
        os.umask(before)
