"""The window's connection as it is on Windows, with a real engine that listens as it does there."""

from functools import partial
from pathlib import Path

import msgspec
import pytest
from PySide6.QtNetwork import QHostAddress, QTcpServer
from pytestqt.qtbot import QtBot

from app.link import engine_link
from app.link.engine_link import EngineLink, Link
from app.link.engine_socket import LoopbackSocket
from core.client import engine_socket, loopback_socket
from core.client.engine_client import ensure_engine
from core.client.loopback_socket import HOST, Address
from core.client.profile import Profile
from tests.fakes.loopback_engine import COMMAND

ROOT = Path(__file__).parents[3]


def listening_at(profile: Profile) -> QTcpServer:
    """Another program that has the port of an engine that crashed."""
    profile.prepare()
    stranger = QTcpServer()
    assert stranger.listen(QHostAddress(HOST))
    profile.socket.write_bytes(msgspec.json.encode(Address(stranger.serverPort(), "secret", 1)))
    return stranger


def test_the_window_starts_an_engine_follows_it_and_ends_it(
    profile: Profile, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(engine_socket, "connect", loopback_socket.connect)
    monkeypatch.setattr(engine_link, "ensure_engine", partial(ensure_engine, command=COMMAND))
    monkeypatch.setattr(engine_link, "EngineSocket", LoopbackSocket)
    link = EngineLink(profile)
    link.open()
    qtbot.waitUntil(lambda: link.snapshot is not None, timeout=15_000)
    assert link.snapshot
    assert link._socket.engine_pid() == link.snapshot.engine_pid
    ended: list[str] = []
    link.quit_engine(lambda: ended.append("ended"))
    qtbot.waitUntil(lambda: ended == ["ended"], timeout=15_000)
    qtbot.waitUntil(lambda: link._socket.is_idle, timeout=5000)
    link.close()


def test_nothing_is_sent_to_another_program_on_the_port(
    profile: Profile, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_link, "EngineSocket", LoopbackSocket)
    stranger = listening_at(profile)
    link = EngineLink(profile)
    link._connect()
    qtbot.waitUntil(stranger.hasPendingConnections)
    other = stranger.nextPendingConnection()
    qtbot.waitUntil(other.canReadLine)
    other.readLine()
    refused: list[str] = []
    link.ask("never sent", refused=refused.append)  # type: ignore[arg-type]
    assert refused == ["The engine is not running."]
    other.write(b"0" * 64 + b"\n")
    qtbot.waitUntil(lambda: link.state is Link.GONE)
    assert not other.bytesAvailable()
    link.close()
    stranger.close()


def test_a_silent_program_on_the_port_is_left_and_an_engine_started(
    profile: Profile, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Profile] = []
    monkeypatch.setattr(engine_link, "EngineSocket", LoopbackSocket)
    monkeypatch.setattr(engine_link, "ensure_engine", started.append)
    stranger = listening_at(profile)
    link = EngineLink(profile)
    states: list[Link] = []
    link.link_changed.connect(lambda state, _: states.append(state))
    link.open()
    qtbot.waitUntil(lambda: started == [profile], timeout=5000)
    assert Link.GONE not in states
    link.close()
    stranger.close()


def test_a_program_that_hangs_up_before_its_proof_was_never_the_engine(profile: Profile, qtbot: QtBot) -> None:
    stranger = listening_at(profile)
    connection = LoopbackSocket()
    was_open: list[bool] = []
    connection.errorOccurred.connect(lambda _: was_open.append(connection.is_open))
    connection.call(profile.socket)
    qtbot.waitUntil(stranger.hasPendingConnections)
    other = stranger.nextPendingConnection()
    other.write(b"x" * 1000)
    qtbot.waitUntil(lambda: connection.bytesAvailable() > 0)
    assert connection.bytesAvailable() <= 256, "more is not read before the proof"
    other.close()
    with qtbot.waitSignal(connection.failed):  # what was sent before is not read to its end
        pass
    assert True not in was_open
    stranger.close()


def test_without_an_address_the_engine_is_not_running(qtbot: QtBot, tmp_path: Path) -> None:
    connection = LoopbackSocket()
    with qtbot.waitSignal(connection.failed):
        connection.call(tmp_path / "missing")
    assert connection.is_idle
