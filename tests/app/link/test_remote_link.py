"""The window's connection to an engine behind a real sshd on loopback."""

import subprocess
import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.link.engine_link import Link
from app.link.remote_link import RemoteLink
from core.api import protocol
from core.api.intent import Pause
from core.api.machines import Machine
from core.api.snapshot import Snapshot
from core.client.profile import Profile
from tests.fakes.scripted_engine import ScriptedEngine
from tests.fakes.ssh_server import SshServer, needs_sshd

pytestmark = needs_sshd


@pytest.fixture
def remote(ssh_server: SshServer, profile: Profile) -> Iterator[RemoteLink]:
    link = RemoteLink(profile, Machine("workshop", "ssh://lab"))
    yield link
    link.close()


def test_it_shows_and_commands_the_other_machine(remote: RemoteLink, far: Profile, qtbot: QtBot) -> None:
    with ScriptedEngine(far) as engine:
        engine.show(Snapshot("contributing", project="bees"))
        remote.open()
        qtbot.waitUntil(lambda: remote.snapshot is not None and remote.snapshot.project == "bees")
        done: list[object] = []
        remote.ask(Pause(60.0), done.append)
        qtbot.waitUntil(lambda: bool(done))
        assert engine.received(Pause) == [Pause(60.0)]


def test_a_lost_connection_is_shown_and_taken_up_again(
    remote: RemoteLink, ssh_server: SshServer, far: Profile, qtbot: QtBot
) -> None:
    with ScriptedEngine(far):
        remote.open()
        qtbot.waitUntil(lambda: remote.state is Link.UP)
        refused: list[str] = []
        ssh_server.stop()
        qtbot.waitUntil(lambda: remote.state is Link.GONE)
        assert remote.sentence == "The connection to workshop is lost."
        remote.ask(Pause(), None, refused.append)
        assert refused
        qtbot.waitUntil(lambda: "cannot be reached" in remote.sentence, timeout=10_000)
        ssh_server.start()
        qtbot.waitUntil(lambda: remote.state is Link.UP and remote.snapshot is not None, timeout=20_000)


def test_the_windows_thread_does_not_wait_for_ssh(
    remote: RemoteLink, far: Profile, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: list[threading.Thread] = []
    wait = subprocess.Popen.wait

    def noted(process: "subprocess.Popen[bytes]", timeout: float | None = None) -> int:
        waiting.append(threading.current_thread())
        return wait(process, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", noted)
    for _ in range(2):
        with ScriptedEngine(far):
            remote.restart()
            qtbot.waitUntil(lambda: remote.state is Link.UP, timeout=20_000)
        qtbot.waitUntil(lambda: remote.state is Link.GONE, timeout=10_000)
        assert remote.sentence == "The engine of workshop has ended."
    with ScriptedEngine(far):
        remote.restart()
        qtbot.waitUntil(lambda: remote.state is Link.UP, timeout=20_000)
        remote.close()
    assert waiting
    assert threading.main_thread() not in waiting


def test_it_waits_longer_after_each_failure_and_not_at_all_for_what_a_person_must_do(
    remote: RemoteLink, ssh_server: SshServer, qtbot: QtBot
) -> None:
    ssh_server.stop()
    waits: list[int] = []
    remote.open()
    for _ in range(3):
        qtbot.waitUntil(remote._reconnect.isActive, timeout=10_000)
        waits.append(remote._reconnect.interval())
        remote._reconnect.stop()
        remote._connect()
        qtbot.waitUntil(lambda: not remote._starting, timeout=10_000)
    assert waits == [1000, 2000, 4000]
    ssh_server.start()
    ssh_server.authorized.write_text("")
    remote.restart()
    qtbot.waitUntil(lambda: "refuses your SSH key" in remote.sentence, timeout=10_000)
    assert not remote._reconnect.isActive()


def test_a_machine_that_sends_without_end_is_left(
    remote: RemoteLink, ssh_server: SshServer, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "LONGEST_LINE", 1 << 20)
    ssh_server.answer("""echo '{"type":"Hello","version":"9.0","started":false}'; cat /dev/zero""")
    remote.open()
    qtbot.waitUntil(lambda: remote.state is Link.GONE, timeout=10_000)
    assert "workshop sent more than" in remote.sentence


def test_an_engine_is_started_there_only_by_the_volunteer(remote: RemoteLink, qtbot: QtBot) -> None:
    remote.open()
    qtbot.waitUntil(lambda: remote.state is Link.GONE, timeout=10_000)
    assert remote.sentence == "No engine is running on workshop."
    remote.restart()
    qtbot.waitUntil(lambda: remote.snapshot is not None, timeout=20_000)
    ended: list[bool] = []
    remote.quit_engine(lambda: ended.append(True))
    qtbot.waitUntil(lambda: bool(ended), timeout=10_000)


def test_a_window_that_closes_while_connecting_leaves_no_process(
    remote: RemoteLink, far: Profile, qtbot: QtBot
) -> None:
    with ScriptedEngine(far):
        remote.open()
        remote.close()
        qtbot.waitUntil(lambda: not remote._starting, timeout=10_000)
        assert remote._tunnel is None
