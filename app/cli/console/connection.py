"""Three ways to the engine: only if it runs, started for one request, or started and left running."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import NoneType
from typing import TypeVar

from core.api.errors import EngineGone
from core.api.protocol import Command, Quit
from core.client.engine_client import EngineClient
from core.client.profile import Profile

Result = TypeVar("Result")


@contextmanager
def running(profile: Profile) -> Iterator[EngineClient | None]:
    """The engine if one is running, else None: never starts one."""
    try:
        client = EngineClient.connect(profile)
    except EngineGone:
        yield None
        return
    with client:
        yield client


@contextmanager
def borrowed(profile: Profile) -> Iterator[EngineClient]:
    """The engine; if none is running, it is started for one request and ended again."""
    client, started = EngineClient.open(profile)
    with client:
        try:
            yield client
        finally:
            if started:
                with suppress(EngineGone):  # it may close the connection before its reply is read
                    client.request(Quit(), NoneType)


def ask(profile: Profile, command: Command, result_type: type[Result], timeout: float = 60.0) -> Result:
    """One request to a borrowed engine; `timeout` in seconds."""
    with borrowed(profile) as engine:
        return engine.request(command, result_type, timeout)


@contextmanager
def needed(profile: Profile) -> Iterator[EngineClient]:
    """The engine, started if none is running, and left running."""
    client, _ = EngineClient.open(profile)
    with client:
        yield client
