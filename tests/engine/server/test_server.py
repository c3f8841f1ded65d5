"""The socket: one engine a profile, and front ends that are slow, confused or hostile."""

import json
import os
import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import psutil
import pytest

from core.api.intent import Pause
from core.api.message import Message
from core.api.protocol import GetSnapshot, Subscribe, encode
from core.api.protocol import Request as Asked
from core.api.record.history import Contribution, GetHistory
from core.api.snapshot import Snapshot
from tests.fakes.running_engine import RunningEngine
from tests.waiting import wait_for


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


def test_only_the_owner_may_connect(engine: RunningEngine) -> None:
    engine.start()
    assert stat.S_IMODE(engine.home.socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(engine.home.runtime.stat().st_mode) == 0o700


def test_a_second_engine_of_a_profile_says_so_and_ends(engine: RunningEngine) -> None:
    engine.start()
    second = engine.launch()
    said, _ = second.communicate(timeout=10)
    assert second.returncode == 1
    why = Message("engine_already_running", {"path": str(engine.home.path), "process": str(engine.pid)})
    assert msgspec.json.decode(said, type=Message) == why
    assert answers(engine)


def test_of_many_engines_at_once_one_wins(engine: RunningEngine) -> None:
    engine.home.prepare()
    others = [engine.launch() for _ in range(3)]
    wait_for(lambda: sum(other.poll() is None for other in others) == 1)
    winner = next(other for other in others if other.poll() is None)
    wait_for(engine.home.socket.exists)
    assert wait_for(engine.snapshot).engine_pid == winner.pid
    winner.terminate()
    for other in others:
        other.communicate(timeout=10)
    assert sorted(other.returncode for other in others) == [0, 1, 1]


def test_a_stale_socket_is_replaced(engine: RunningEngine) -> None:
    engine.home.prepare()
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(os.fspath(engine.home.socket))
    stale.close()
    assert engine.start().snapshot().engine_pid == engine.pid


def test_a_profile_that_cannot_be_made_is_told_as_data(engine: RunningEngine) -> None:
    engine.home.path.write_text("a file where the folder should be")
    process = engine.launch()
    said, errors = process.communicate(timeout=10)
    assert (process.returncode, errors) == (1, "")
    why = Message("profile_unusable", {"path": str(engine.home.path), "detail": "File exists"})
    assert msgspec.json.decode(said, type=Message) == why


def test_a_damaged_record_is_told_as_data(engine: RunningEngine) -> None:
    engine.home.prepare()
    engine.home.database.write_text("this is no database" * 100)
    process = engine.launch()
    said, _ = process.communicate(timeout=10)
    assert process.returncode == 1
    assert msgspec.json.decode(said, type=Message) == Message("record_damaged", {"path": str(engine.home.database)})


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
def test_who_does_not_speak_the_language_is_refused_and_hung_up_on(engine: RunningEngine, text: bytes) -> None:
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
def test_a_wrong_command_is_refused_by_its_number_and_the_talk_goes_on(engine: RunningEngine, command: object) -> None:
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


def test_half_a_line_and_gone_does_no_harm(engine: RunningEngine) -> None:
    engine.start()
    for _ in range(50):
        with connected(engine) as connection:
            connection.sendall(b'{"id": 1, "command": {"type": "Pau')
    assert answers(engine)
    assert engine.snapshot().state == "idle"


def test_half_a_line_that_stays_holds_up_nobody(engine: RunningEngine) -> None:
    engine.start()
    with connected(engine) as connection:
        connection.sendall(b'{"id": 1, "command": ')
        assert answers(engine)
        connection.sendall(b'{"type": "GetSnapshot"}}\n')
        assert next(received(connection))["id"] == 1


def test_who_never_reads_is_hung_up_on_and_holds_up_nobody(engine: RunningEngine) -> None:
    engine.start().contribute()
    requests = b"".join(encode(Asked(number, GetSnapshot())) for number in range(1000))
    with connected(engine) as connection:
        connection.sendall(encode(Asked(0, Subscribe())))
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            send_for_ever(connection, requests)
        assert answers(engine)
    assert "does not read" in engine.log()


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
    wait_for(lambda: _is_welcome(engine))


def _is_welcome(engine: RunningEngine) -> bool:
    with connected(engine) as connection:
        connection.sendall(encode(Asked(1, GetSnapshot())))
        return bool(next(received(connection))["type"] == "Reply")


def test_snapshots_come_at_most_twice_a_second_but_a_change_of_state_at_once(engine: RunningEngine) -> None:
    engine.start().contribute()
    client = engine.client()
    times: list[float] = []
    end = time.monotonic() + 3.0
    for message in client.messages(0.1):
        if isinstance(message, Snapshot):
            times.append(time.monotonic())
        if time.monotonic() > end:
            break
    assert 4 <= len(times) <= 8
    engine.tell(Pause())
    began = time.monotonic()
    assert any(
        isinstance(m, Snapshot) and m.state == "holding" for m in client.messages(0.1) if time.monotonic() < began + 5
    )
    assert time.monotonic() - began < 0.3


def test_a_subscriber_gets_the_present_snapshot_at_once(engine: RunningEngine) -> None:
    engine.start()
    with connected(engine) as connection:
        connection.sendall(encode(Asked(1, Subscribe())))
        replies = received(connection)
        assert next(replies) == {"type": "Reply", "id": 1, "result": None}
        assert next(replies)["type"] == "Snapshot"


def test_a_full_disk_holds_up_nothing_and_loses_nothing(engine: RunningEngine) -> None:
    # The limit on file sizes stands in for the disk's end: SQLite meets the same error.
    engine.start().contribute()
    client = engine.client()
    next(client.messages(1.0))
    subprocess.run(
        ["prlimit", f"--pid={engine.pid}", f"--fsize={engine.home.database.stat().st_size}:unlimited"], check=True
    )
    try:
        engine.tell(Pause())
        warning = next(
            m for m in client.messages(0.2) if m is not None and not isinstance(m, Snapshot) and m.kind == "warning"
        )
        assert warning.message.kind == "record_waits"
        assert engine.snapshot().state == "holding"
        given = engine.ask(GetHistory(), list[Contribution])[0].samples
        assert given > 0
    finally:
        subprocess.run(["prlimit", f"--pid={engine.pid}", "--fsize=unlimited:unlimited"], check=True)
    assert engine.quit() == 0
    after = engine.start().ask(GetHistory(), list[Contribution])[0]
    assert after.samples >= given
    assert [reason.kind for reason in engine.snapshot().reasons] == ["paused"]


def test_the_engine_is_ready_soon(engine: RunningEngine) -> None:
    engine.start().quit()
    began = time.monotonic()
    engine.start()
    assert time.monotonic() - began < 2.0
