"""The engine's socket on Windows, whose Python has no Unix sockets: a port of the loopback address and a secret.

The file at the socket's path has both; only the volunteer can read it, like all of their profile. A connection begins
with a line of each side that proves that it knows the secret, which itself is never sent: after a crash, another user's
program may have the port.
"""

import os
import socket
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import asyncio

HOST = "127.0.0.1"
_HELLO_TIMEOUT = 5.0
"""Seconds that the engine waits for the first line."""
_LONGEST_HELLO = 256


class Address(msgspec.Struct, frozen=True):
    """Where an engine listens."""

    port: int
    secret: str
    process: int
    """Process id of the engine."""

    @classmethod
    def read(cls, path: Path) -> "Address":
        """Raises OSError: no engine is running."""
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except msgspec.DecodeError:
            raise ConnectionRefusedError(str(path)) from None

    def hello(self) -> tuple[bytes, bytes]:
        """What a front end sends first, and what the engine has to answer."""
        import secrets

        nonce = secrets.token_hex(16)
        return f"{nonce} {self._proof('front end', nonce)}\n".encode(), f"{self._proof('engine', nonce)}\n".encode()

    def answer(self, hello: bytes) -> bytes | None:
        """What the engine answers; None: the front end does not know the secret."""
        import hmac

        nonce, _, proof = hello.decode(errors="replace").strip().partition(" ")
        if not hmac.compare_digest(proof.encode(), self._proof("front end", nonce).encode()):
            return None
        return f"{self._proof('engine', nonce)}\n".encode()

    def _proof(self, side: str, nonce: str) -> str:
        import hmac  # with OpenSSL, which other systems' front ends do not need

        return hmac.digest(self.secret.encode(), f"{side} {nonce}".encode(), "sha256").hex()


def connect(path: Path, timeout: float) -> socket.socket:
    """A connection to the engine; `timeout` in seconds for it and every answer.

    Raises:
        FileNotFoundError, NotADirectoryError, ConnectionRefusedError: none is running, or nothing that proves in time
            that it is the engine.
        OSError: it cannot be reached.
    """
    import hmac

    address = Address.read(path)
    hello, expected = address.hello()
    try:
        connection = socket.create_connection((HOST, address.port), timeout)
    except TimeoutError:
        raise ConnectionRefusedError from None  # another program has the port
    try:
        connection.sendall(hello)
        proved = hmac.compare_digest(_received(connection, len(expected), timeout), expected)
    except OSError:
        proved = False
    if not proved:
        connection.close()
        raise ConnectionRefusedError
    connection.settimeout(timeout)
    return connection


def _received(connection: socket.socket, length: int, timeout: float) -> bytes:
    """Up to `length` bytes, in `timeout` seconds for all of them: whoever sends one at a time does not prolong it."""
    deadline = time.monotonic() + timeout
    received = bytearray()
    while len(received) < length and (left := deadline - time.monotonic()) > 0:
        connection.settimeout(left)
        data = connection.recv(length - len(received))
        if not data:
            break
        received += data
    return bytes(received)


def is_of_another_user(_path: Path) -> bool:
    """Other users cannot write into the profile."""
    return False


async def serve(
    client: "Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]", path: Path, limit: int
) -> "asyncio.Server":
    """Listen for front ends, whose lines have at most `limit` bytes. Raises OSError."""
    import asyncio  # for the engine alone: a short command connects without it
    import secrets

    listening = socket.create_server((HOST, 0))
    address = Address(listening.getsockname()[1], secrets.token_hex(32), os.getpid())

    async def admit(reader: "asyncio.StreamReader", writer: "asyncio.StreamWriter") -> None:
        try:
            async with asyncio.timeout(_HELLO_TIMEOUT):
                hello = await reader.readuntil(b"\n")
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            hello = b""
        answer = address.answer(hello) if len(hello) <= _LONGEST_HELLO else None
        if answer is None:
            writer.transport.abort()
            return
        writer.write(answer)
        await client(reader, writer)

    server = await asyncio.start_server(admit, sock=listening, limit=limit)
    unfinished = path.with_suffix(".new")
    unfinished.touch(mode=0o600)
    unfinished.write_bytes(msgspec.json.encode(address))
    unfinished.replace(path)
    return server
