"""The socket against front ends that are slow, confused or hostile."""

import asyncio
import json
import os
import socket
from functools import partial

import psutil
import pytest

from core.api.intent import Pause
from core.api.preferences.commands import SetPreference
from core.api.project.projects import JoinProject, OrderProjects
from core.api.protocol import GetSnapshot, Subscribe, encode
from core.api.protocol import Request as Asked
from core.client.profile import Profile
from core.engine.server.server import MOST_REQUESTS, Server
from tests.engine.server.wire import answers, connected, received
from tests.engine.world import Play, World
from tests.fakes.running_engine import RunningEngine
from tests.waiting import wait_for


@pytest.mark.parametrize(
    "text",
    [
        b"no JSON at all\n",
        b"\xff\xfe\x00\n",
        b"\n",
        b"[]\n",
        b'{"command": {"type": "Pause"}}\n',
        b"GET / HTTP/1.1\n",
        b"[" * 100_000 + b"\n",
    ],
)
def test_what_is_no_request_is_refused_and_ends_the_connection(engine: RunningEngine, text: bytes) -> None:
    engine.start()
    with connected(engine) as connection:
        connection.sendall(text)
        (refusal,) = received(connection)
    assert (refusal["type"], refusal["id"], refusal["usage"]) == ("Refusal", 0, True)
    assert answers(engine)


@pytest.mark.parametrize(
    "command",
    [{"type": "Fly"}, {"type": "Pause", "seconds": "long"}, {"type": "SetPreference", "name": "x"}, None],
)
def test_a_wrong_command_is_refused_by_its_number_alone(engine: RunningEngine, command: object) -> None:
    engine.start()
    with connected(engine) as connection:
        connection.sendall(json.dumps({"id": 5, "command": command}).encode() + b"\n" + encode(Asked(6, GetSnapshot())))
        replies = received(connection)
        refusal = next(replies)
        assert (refusal["type"], refusal["id"], refusal["usage"]) == ("Refusal", 5, True)
        assert next(replies)["id"] == 6


def test_broken_text_in_a_request_is_refused_without_a_traceback(engine: RunningEngine) -> None:
    engine.start()
    with connected(engine) as connection:
        connection.sendall(b'{"id": 5, "command": {"type": "Pa\xffuse"}}\n')
        refusal = next(received(connection))
    assert (refusal["type"], refusal["usage"]) == ("Refusal", True)
    assert "Traceback" not in "".join(file.read_text() for file in engine.home.logs.iterdir())


@pytest.mark.parametrize("text", [b'{"id": 5, "x": ', b'{"id": 5, "command": {"type": "Pause", "x": '])
def test_nesting_without_end_is_refused_without_a_traceback(engine: RunningEngine, text: bytes) -> None:
    engine.start()
    with connected(engine) as connection:
        connection.sendall(text + b"[" * 100_000 + b"]" * 100_000 + b"}\n")
        refusal = next(received(connection))
    assert (refusal["type"], refusal["usage"]) == ("Refusal", True)
    assert answers(engine)
    assert "Traceback" not in "".join(file.read_text() for file in engine.home.logs.iterdir())


@pytest.mark.parametrize("seconds", [-1.0, 0.0, 1e300])
def test_a_pause_of_no_sensible_length_is_refused(engine: RunningEngine, seconds: float) -> None:
    engine.start()
    with connected(engine) as connection:
        connection.sendall(encode(Asked(1, Pause(seconds))))
        refusal = next(received(connection))
    assert refusal["error"]["kind"] == "duration_out_of_range"
    assert engine.snapshot().reasons[0].kind != "snoozed"


def test_a_line_without_end_is_refused_and_takes_little_memory(engine: RunningEngine) -> None:
    engine.start()
    before = psutil.Process(engine.pid).memory_info().rss
    with connected(engine) as connection:
        try:
            for _ in range(64):
                connection.sendall(b"x" * (1 << 20))
        except (BrokenPipeError, ConnectionResetError):
            pass
        else:
            pytest.fail("the engine swallowed 64 MiB")
    assert answers(engine)
    assert psutil.Process(engine.pid).memory_info().rss - before < 16 << 20


def test_the_refusal_of_a_line_that_is_too_long_can_be_read(engine: RunningEngine) -> None:
    engine.start()
    with connected(engine) as connection:
        connection.sendall(b"x" * ((1 << 20) + 200_000))
        (refusal,) = received(connection)
    assert refusal["error"] == {"kind": "request_too_long", "params": {"most": 1 << 20}}


def test_half_a_line_before_a_disconnection_does_no_harm(engine: RunningEngine) -> None:
    engine.start()
    for _ in range(50):
        with connected(engine) as connection:
            connection.sendall(b'{"id": 1, "command": {"type": "Pau')
    assert answers(engine)
    assert engine.snapshot().state == "idle"


def test_half_a_line_that_stays_delays_nobody(engine: RunningEngine) -> None:
    engine.start()
    with connected(engine) as connection:
        connection.sendall(b'{"id": 1, "command": ')
        assert answers(engine)
        connection.sendall(b'{"type": "GetSnapshot"}}\n')
        assert next(received(connection))["id"] == 1


def test_a_front_end_that_never_reads_is_disconnected_and_delays_nobody(engine: RunningEngine) -> None:
    engine.start().contribute()
    requests = b"".join(encode(Asked(number, GetSnapshot())) for number in range(1000))
    with connected(engine) as connection:
        connection.sendall(encode(Asked(0, Subscribe())))
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            send_for_ever(connection, requests)
        assert answers(engine)
    assert "does not read" in engine.log()


def test_a_front_end_that_has_gone_before_its_subscription_was_read_gets_nothing(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nobody_asks() -> None:
        raise AssertionError

    async def scenario(world: World) -> None:
        came, left = list[object](), list[object]()
        monkeypatch.setattr(world.engine.broadcast, "remove", left.append)
        monkeypatch.setattr(world.engine.broadcast, "add", came.append)
        profile = Profile(world.profile.path / "home")
        server = Server(world.engine, profile, nobody_asks)
        await server.start()
        requests = [*map(partial(Asked, command=GetSnapshot()), range(MOST_REQUESTS)), Asked(99, Subscribe())]
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(os.fspath(profile.socket))
            connection.sendall(b"".join(map(encode, requests)))
        await world.wait_for(lambda: len(left) == 2)
        # In which its last request is answered.
        await asyncio.sleep(0)
        server.stop_listening()
        await server.close()
        assert came == []

    play(scenario)


def send_for_ever(connection: socket.socket, data: bytes) -> None:
    while True:
        connection.sendall(data)


def test_front_ends_are_counted(engine: RunningEngine) -> None:
    engine.start()
    held: list[socket.socket] = []
    try:
        for _ in range(32):
            held.append(socket.socket(socket.AF_UNIX))
            held[-1].connect(os.fspath(engine.home.socket))
        with connected(engine) as connection:
            (refusal,) = received(connection)
        assert refusal["error"] == {"kind": "too_many_front_ends", "params": {"most": 32}}
    finally:
        for connection in held:
            connection.close()
    wait_for(lambda: _is_accepted(engine))


def _is_accepted(engine: RunningEngine) -> bool:
    with connected(engine) as connection:
        connection.sendall(encode(Asked(1, GetSnapshot())))
        return bool(next(received(connection))["type"] == "Reply")


def test_changes_are_counted_so_that_every_front_end_sees_them(play: Play) -> None:
    async def scenario(world: World) -> None:
        commands = JoinProject("practice"), OrderProjects(("practice",)), SetPreference("threads", 1)
        counts = [world.engine.snapshot().changes, *[(await world.tell(command)).changes for command in commands]]
        assert counts == sorted(set(counts))
        assert (await world.tell(Pause())).changes == counts[-1]

    play(scenario)
