"""The connection to the engine, on the real socket and with real processes."""

import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.link import engine_link
from app.link.engine_link import EngineLink, Link
from core.api.errors import UsageError
from core.api.intent import Pause
from core.api.message import Message
from core.api.project.projects import AddProject, ListProjects, ProjectInfo
from core.api.protocol import Event, Subscribe
from core.api.snapshot import Snapshot
from core.client.engine_client import ensure_engine
from core.client.profile import Profile
from tests.app.snapshots import CONTRIBUTING
from tests.fakes.scripted_engine import ScriptedEngine

ROOT = Path(__file__).parents[3]
PROJECT = ProjectInfo("birds", "Birdsong", "Voices of birds.", "Ornithologists", "MIT", "https://example.org/p.json")


def command(profile: Profile, **script: Any) -> list[str]:
    """The command line of a scripted engine as a process of its own."""
    path = profile.path / "script.json"
    path.write_text(json.dumps(script))
    return [sys.executable, "-m", "tests.fakes.scripted_engine", str(path)]


@pytest.fixture
def own_engine(profile: Profile, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineLink]:
    """A link that has started its engine, a process, itself."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(engine_link, "ensure_engine", partial(ensure_engine, command=command(profile)))
    monkeypatch.setattr(engine_link, "_TERMINATE_MS", 300)
    connection = EngineLink(profile)
    connection.open()
    qtbot.waitUntil(lambda: connection.snapshot is not None, timeout=15_000)
    pids = [connection.snapshot.engine_pid] if connection.snapshot else []
    yield connection
    pids += [connection.snapshot.engine_pid] if connection.snapshot else []
    connection.close()
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_a_snapshot_comes_at_once_and_whenever_it_changes(
    link: EngineLink, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    assert link.snapshot == Snapshot(state="idle", engine_pid=os.getpid(), version="0.1.0")
    with qtbot.waitSignal(link.snapshot_changed) as arrived:
        engine.show(CONTRIBUTING)
    assert arrived.args == [CONTRIBUTING]


def test_events_are_passed_on(link: EngineLink, engine: ScriptedEngine, qtbot: QtBot) -> None:
    event = Event("joined", Message("joined", {"name": "Birdsong"}), 1.0, "birds")
    with qtbot.waitSignal(link.event_came) as arrived:
        engine.tell(event)
    assert arrived.args == [event]


def test_a_reply_arrives_as_the_wanted_type(link: EngineLink, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(ListProjects, [PROJECT])
    answers: list[Any] = []
    link.ask(ListProjects(), answers.append, kind=list[ProjectInfo])
    qtbot.waitUntil(lambda: answers == [[PROJECT]])


def test_a_refusal_arrives_as_a_sentence(link: EngineLink, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(AddProject, UsageError("That is no manifest."))
    sentences: list[str] = []
    link.ask(AddProject("x"), lambda _: sentences.append("done"), sentences.append)
    qtbot.waitUntil(lambda: bool(sentences))
    assert sentences == ["That is no manifest."]


def test_an_answer_of_another_shape_is_a_sentence_too(link: EngineLink, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(ListProjects, [{"id": 7}])
    sentences: list[str] = []
    link.ask(ListProjects(), lambda _: None, sentences.append, kind=list[ProjectInfo])
    qtbot.waitUntil(lambda: bool(sentences))
    assert "another version" in sentences[0]


def test_a_killed_engine_shows_within_two_seconds(own_engine: EngineLink, qtbot: QtBot) -> None:
    assert own_engine.snapshot
    began = time.monotonic()
    os.kill(own_engine.snapshot.engine_pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: own_engine.state is Link.GONE, timeout=2000)
    assert time.monotonic() - began < 2
    qtbot.wait(1100)
    assert own_engine.sentence == "The engine has ended.", "also after the next look for one"
    assert own_engine.snapshot is None


def test_a_hung_engine_shows_within_two_seconds_and_is_forgiven_when_it_wakes(
    own_engine: EngineLink, qtbot: QtBot
) -> None:
    assert own_engine.snapshot
    pid = own_engine.snapshot.engine_pid
    os.kill(pid, signal.SIGSTOP)
    qtbot.waitUntil(lambda: own_engine.state is Link.SILENT, timeout=2050)
    os.kill(pid, signal.SIGCONT)
    qtbot.waitUntil(lambda: own_engine.state is Link.UP and own_engine.snapshot is not None)


def test_restart_brings_a_killed_engine_back(own_engine: EngineLink, qtbot: QtBot) -> None:
    assert own_engine.snapshot
    first = own_engine.snapshot.engine_pid
    os.kill(first, signal.SIGKILL)
    qtbot.waitUntil(lambda: own_engine.state is Link.GONE)
    own_engine.restart()
    qtbot.waitUntil(lambda: own_engine.snapshot is not None, timeout=15_000)
    assert own_engine.snapshot.engine_pid != first


def test_restart_ends_a_hung_engine_first(own_engine: EngineLink, qtbot: QtBot) -> None:
    assert own_engine.snapshot
    first = own_engine.snapshot.engine_pid
    os.kill(first, signal.SIGSTOP)
    qtbot.waitUntil(lambda: own_engine.state is Link.SILENT, timeout=3000)
    own_engine.restart()
    qtbot.waitUntil(lambda: own_engine.snapshot is not None, timeout=15_000)
    assert own_engine.snapshot.engine_pid != first


def test_an_engine_that_cannot_start_says_why(profile: Profile, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    full = [sys.executable, "-c", "raise SystemExit('The disk is full.')"]
    monkeypatch.setattr(engine_link, "ensure_engine", partial(ensure_engine, command=full))
    link = EngineLink(profile)
    link.open()
    qtbot.waitUntil(lambda: link.state is Link.GONE, timeout=15_000)
    assert "The disk is full." in link.sentence
    link.close()


def test_an_engine_that_somebody_else_starts_is_found(profile: Profile, qtbot: QtBot) -> None:
    with ScriptedEngine(profile):
        link = EngineLink(profile)
        link.open()
        qtbot.waitUntil(lambda: link.state is Link.UP)
    qtbot.waitUntil(lambda: link.state is Link.GONE)
    with ScriptedEngine(profile):
        qtbot.waitUntil(lambda: link.state is Link.UP)
    link.close()


def test_open_questions_are_refused_when_the_engine_ends(
    link: EngineLink, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.hanging.set()
    sentences: list[str] = []
    link.ask(Pause(), None, sentences.append)
    engine.wait_for(Pause)
    engine.stop()
    qtbot.waitUntil(lambda: sentences == ["The engine has ended."])
    link.ask(Pause(), None, sentences.append)
    assert sentences[1] == "The engine is not running."


def test_a_quiet_engine_is_asked_once_a_second_and_stays_up(
    link: EngineLink, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    states: list[Link] = []
    link.link_changed.connect(lambda state, _: states.append(state))
    qtbot.wait(2500)
    assert states == []
    assert len(engine.received(Subscribe)) == 1


def test_an_engine_of_another_version_is_told_apart_from_none(profile: Profile, qtbot: QtBot) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(profile.socket))
        listener.listen()
        link = EngineLink(profile)

        def babble() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b'{"type":"Hello"}\n')
                connection.recv(1)

        threading.Thread(target=babble, daemon=True).start()
        link.open()
        qtbot.waitUntil(lambda: link.state is Link.GONE)
        assert "another version" in link.sentence
        link.close()
