"""The other end of `core.client.ssh`: joins standard input and output to the engine's socket."""

import os
import selectors
import socket
from contextlib import suppress

import msgspec

from core.api.errors import IdlehiveError
from core.api.machines import Hello, NoEngine
from core.client.engine_client import connect_socket, ensure_engine
from core.client.installation import version
from core.client.profile import Profile

_STDIN, _STDOUT = 0, 1


def join(profile: Profile, start: bool) -> None:
    """Until one of both sides closes, after a line that says what was found. `start`: an engine if none is running."""
    try:
        started = start and ensure_engine(profile)
        engine = connect_socket(profile)
    except IdlehiveError as error:
        _write(msgspec.json.encode(NoEngine(error.message)) + b"\n")
        return
    with engine:
        engine.settimeout(None)
        _write(msgspec.json.encode(Hello(version(), started)) + b"\n")
        with suppress(OSError):  # one side closed while the other was writing
            _copy(engine)


def _copy(engine: socket.socket) -> None:
    with selectors.DefaultSelector() as selector:
        selector.register(_STDIN, selectors.EVENT_READ)
        selector.register(engine, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                data = os.read(_STDIN, 1 << 16) if key.fileobj == _STDIN else engine.recv(1 << 16)
                if not data:
                    return
                if key.fileobj == _STDIN:
                    engine.sendall(data)
                else:
                    _write(data)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(_STDOUT, data) :]
