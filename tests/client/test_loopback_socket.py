"""The engine's socket on Windows, which runs on every system: with a whole engine, and with strangers at either end."""

import asyncio
import contextlib
import socket
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from core.api.errors import EngineGone
from core.api.protocol import GetSnapshot, Quit
from core.api.snapshot import Snapshot
from core.client import engine_socket, loopback_socket
from core.client.engine_client import EngineClient, ensure_engine
from core.client.loopback_socket import HOST, Address
from core.client.profile import Profile
from tests.fakes.loopback_engine import COMMAND


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "engine.sock"


@pytest.fixture
def echo(path: Path) -> Iterator[Path]:
    """A server that repeats a line, in a thread."""

    async def repeat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        writer.close()

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(loopback_socket.serve(repeat, path, 1 << 16))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield path
    loop.call_soon_threadsafe(server.close)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@contextlib.contextmanager
def stranger(path: Path, says: bytes) -> Iterator[None]:
    """Another program on the port of an engine that has crashed."""
    with socket.create_server((HOST, 0)) as listening:
        path.write_bytes(msgspec.json.encode(Address(listening.getsockname()[1], "secret", 1)))

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(1 << 10)
                connection.sendall(says)

        thread = threading.Thread(target=answer)
        thread.start()
        yield
        thread.join()


def test_a_whole_engine_answers_and_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_socket, "connect", loopback_socket.connect)
    profile = Profile(tmp_path / "profile")
    assert ensure_engine(profile, command=COMMAND)
    with EngineClient.connect(profile) as engine:
        pid = engine.request(GetSnapshot(), Snapshot).engine_pid
        assert Address.read(profile.socket).process == pid
        engine.request(Quit(), type(None))
    with pytest.raises(EngineGone):
        EngineClient.connect(profile)


def test_lines_pass_when_both_sides_know_the_secret(echo: Path) -> None:
    with loopback_socket.connect(echo, 5.0) as connection:
        connection.sendall(b"hello\n")
        assert connection.recv(100) == b"hello\n"
    assert stat.S_IMODE(echo.stat().st_mode) == 0o600


@pytest.mark.parametrize("said", [b"\n", b"0123 4567\n", b"x" * 300 + b"\n", b"\xff\xfe \xff\n", b"y" * (1 << 17)])
def test_who_does_not_know_the_secret_is_disconnected(echo: Path, said: bytes) -> None:
    with socket.create_connection((HOST, Address.read(echo).port), 5.0) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(said + b"hello\n")
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(100) == b""


@pytest.mark.parametrize("says", [b"", b"0" * 64 + b"\n", b"too short\n"])
def test_another_program_on_the_port_is_not_taken_for_the_engine(path: Path, says: bytes) -> None:
    with stranger(path, says), pytest.raises(ConnectionRefusedError):
        loopback_socket.connect(path, 5.0)


@pytest.mark.parametrize("says", [b"", b"0"])
def test_a_program_that_is_silent_or_sends_single_bytes_is_left_in_time(path: Path, says: bytes) -> None:
    left = threading.Event()
    with socket.create_server((HOST, 0)) as listening:
        path.write_bytes(msgspec.json.encode(Address(listening.getsockname()[1], "secret", 1)))

        def drip() -> None:
            connection, _ = listening.accept()
            with connection, contextlib.suppress(OSError):
                while not left.wait(0.05):
                    connection.sendall(says)

        thread = threading.Thread(target=drip)
        thread.start()
        begun = time.monotonic()
        try:
            with pytest.raises(ConnectionRefusedError):
                loopback_socket.connect(path, 0.5)
        finally:
            left.set()
            thread.join()
        assert time.monotonic() - begun < 2.0, "65 single bytes take 3.25 seconds"


def test_the_secret_is_never_sent() -> None:
    address = Address(1, "the secret", 1)
    hello, expected = address.hello()
    assert b"the secret" not in hello + expected
    assert address.answer(hello) == expected
    assert Address(1, "another", 1).answer(hello) is None


@pytest.mark.parametrize("content", [b"", b"{", b'{"port": "x"}'])
def test_a_damaged_address_is_no_engine(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(ConnectionRefusedError):
        loopback_socket.connect(path, 5.0)
