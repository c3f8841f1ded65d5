"""The socket: one engine for each profile, what subscribers get, and a disk that is full."""

import os
import socket
import stat
import subprocess
import time

import msgspec

from core.api.intent import Contribute, Pause
from core.api.message import Message
from core.api.protocol import QuitUnused, Subscribe, encode
from core.api.protocol import Request as Asked
from core.api.record.record import Contribution, GetHistory
from core.api.snapshot import Snapshot
from tests.engine.server.wire import answers, connected, received
from tests.fakes.running_engine import RunningEngine
from tests.waiting import wait_for


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


def test_what_a_killed_front_end_has_borrowed_is_given_back(engine: RunningEngine) -> None:
    engine.start()
    with connected(engine) as connection:
        connection.sendall(encode(Asked(1, Contribute("practice", borrow=True))))
        assert next(received(connection))["result"] == 1
        assert engine.snapshot().borrowings == (1,)
    wait_for(lambda: not engine.snapshot().borrowings)
    assert (engine.snapshot().wanted, engine.snapshot().goals) == (False, ())


def test_an_engine_started_for_a_while_ends_with_the_last_front_end_that_follows_it(engine: RunningEngine) -> None:
    engine.start()
    starter, window = engine.client(), engine.client()
    next(window.messages())
    next(starter.messages())
    assert starter.request(QuitUnused(), bool) is False
    starter.close()
    assert answers(engine)
    window.close()
    assert engine.process is not None
    assert wait_for(lambda: engine.process and engine.process.poll() is not None)
    assert engine.process.returncode == 0


def test_an_engine_that_somebody_has_asked_to_contribute_on_stays(engine: RunningEngine) -> None:
    engine.start()
    starter = engine.client()
    starter.request(Contribute(borrow=True), int)
    engine.tell(Contribute())
    assert starter.request(QuitUnused(), bool) is False
    starter.close()
    engine.until("contributing")


def test_an_engine_that_nobody_else_follows_ends_at_once(engine: RunningEngine) -> None:
    engine.start()
    starter = engine.client()
    next(starter.messages())
    assert starter.request(QuitUnused(), bool) is True
    assert wait_for(lambda: engine.process and engine.process.poll() is not None)


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


def test_a_profile_that_cannot_be_made_is_reported_as_data(engine: RunningEngine) -> None:
    engine.home.path.write_text("a file where the folder should be")
    process = engine.launch()
    said, errors = process.communicate(timeout=10)
    assert (process.returncode, errors) == (1, "")
    why = Message("profile_unusable", {"path": str(engine.home.path), "detail": "File exists"})
    assert msgspec.json.decode(said, type=Message) == why


def test_a_damaged_record_is_reported_as_data(engine: RunningEngine) -> None:
    engine.home.prepare()
    engine.home.database.write_text("this is no database" * 100)
    process = engine.launch()
    said, _ = process.communicate(timeout=10)
    assert process.returncode == 1
    assert msgspec.json.decode(said, type=Message) == Message("record_damaged", {"path": str(engine.home.database)})


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


def test_a_full_disk_delays_nothing_and_loses_nothing(engine: RunningEngine) -> None:
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
