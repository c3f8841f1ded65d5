"""A raw connection to the engine's socket."""

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.fakes.running_engine import RunningEngine


@contextmanager
def connected(engine: RunningEngine) -> Iterator[socket.socket]:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(10)
    connection.connect(os.fspath(engine.home.socket))
    try:
        yield connection
    finally:
        connection.close()


def received(connection: socket.socket) -> Iterator[dict[str, Any]]:
    with connection.makefile("rb") as lines:
        for text in lines:
            yield json.loads(text)


def answers(engine: RunningEngine) -> bool:
    """At once, whatever others do."""
    began = time.monotonic()
    engine.snapshot()
    return time.monotonic() - began < 0.5
