import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import NoneType

import psutil
import pytest

from core.api.errors import EngineGone, UsageError, WorldError
from core.api.intent import Pause, Resume
from core.api.message import Message
from core.api.preferences.commands import ListPreferences
from core.api.project.projects import ListProjects, ProjectInfo
from core.api.protocol import Event, GetSnapshot, Quit
from core.api.snapshot import Snapshot
from core.client.engine_client import EngineClient, ensure_engine
from core.client.profile import Profile
from tests.fakes.scripted_engine import ScriptedEngine

SCRIPTED = """
import os
from core.client.profile import Profile
from core.api.snapshot import Snapshot
from tests.fakes.scripted_engine import Script, run
run(Script(snapshots=(Snapshot(state="idle", engine_pid=os.getpid()),), start_delay=0.2), Profile.from_environment())
"""
PROJECT = ProjectInfo("bees", "Bees", "About bees.", "Org", "MIT", "https://example.org/bees.json")


@pytest.fixture
def profile(tmp_path: Path) -> Iterator[Profile]:
    profile = Profile(tmp_path / "profile")
    yield profile
    for path in (profile.socket, profile.lock):
        path.unlink(missing_ok=True)
    if profile.runtime.exists():
        profile.runtime.rmdir()


@pytest.fixture
def engine(profile: Profile) -> Iterator[ScriptedEngine]:
    with ScriptedEngine(profile) as scripted:
        yield scripted


@pytest.fixture
def client(profile: Profile, engine: ScriptedEngine) -> Iterator[EngineClient]:
    with EngineClient.connect(profile) as connected:
        yield connected


def test_a_result_comes_in_its_type(engine: ScriptedEngine, client: EngineClient) -> None:
    engine.answer(ListProjects, [PROJECT])
    assert client.request(ListProjects(), list[ProjectInfo]) == [PROJECT]


def test_a_command_arrives_as_it_was_sent(engine: ScriptedEngine, client: EngineClient) -> None:
    client.request(Pause(3600.0), NoneType)
    assert engine.received(Pause) == [Pause(3600.0)]


def test_a_refusal_for_wrong_use_is_a_usage_error(engine: ScriptedEngine, client: EngineClient) -> None:
    engine.answer(Pause, UsageError("duration_out_of_range", seconds=1e9))
    with pytest.raises(UsageError, match=r"^duration_out_of_range seconds=1000000000.0$"):
        client.request(Pause(1e9), NoneType)


def test_a_refusal_by_the_world_is_a_world_error(engine: ScriptedEngine, client: EngineClient) -> None:
    engine.answer(Pause, WorldError("disk_full", path="/data"))
    with pytest.raises(WorldError, match=r"^disk_full path=/data$"):
        client.request(Pause(), NoneType)


def test_a_result_of_another_version_says_what_to_do(engine: ScriptedEngine, client: EngineClient) -> None:
    engine.answer(ListPreferences, {"limits": "elsewhere"})
    with pytest.raises(WorldError, match="engine_other_version"):
        client.request(ListPreferences(), list[ProjectInfo])


def test_without_an_engine_connecting_says_so(profile: Profile) -> None:
    with pytest.raises(EngineGone, match="engine_not_running"):
        EngineClient.connect(profile)


def test_the_socket_of_a_killed_engine_counts_as_none(profile: Profile, engine: ScriptedEngine) -> None:
    engine.stop()
    profile.socket.touch()
    with pytest.raises(EngineGone, match="engine_not_running"):
        EngineClient.connect(profile)


def test_a_socket_of_another_user_is_not_trusted(
    profile: Profile, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    somebody_else = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: somebody_else)
    with pytest.raises(WorldError, match="socket_of_another_user"):
        EngineClient.connect(profile)


def test_an_engine_that_hangs_is_given_up_in_time(engine: ScriptedEngine, client: EngineClient) -> None:
    engine.hanging.set()
    started = time.monotonic()
    with pytest.raises(EngineGone, match="engine_silent"):
        client.request(GetSnapshot(), Snapshot, timeout=0.2)
    assert time.monotonic() - started < 2


def test_an_engine_that_ends_is_noticed_at_once(engine: ScriptedEngine, client: EngineClient) -> None:
    messages = client.messages()
    next(messages)
    engine.stop()
    with pytest.raises(EngineGone):
        next(messages)


def test_messages_begin_with_the_present_and_go_on(engine: ScriptedEngine, client: EngineClient) -> None:
    messages = client.messages()
    first = next(messages)
    assert isinstance(first, Snapshot)
    assert first.state == "idle"
    engine.show(Snapshot(state="starting"))
    event = Event("joined", Message("joined", {"name": "Bees"}), at=1.0)
    engine.tell(event)
    assert [next(messages), next(messages)] == [Snapshot(state="starting"), event]


def test_a_tick_comes_when_nothing_else_does(client: EngineClient) -> None:
    messages = client.messages(tick=0.05)
    next(messages)
    assert next(messages) is None


def test_a_request_among_messages_loses_none(engine: ScriptedEngine, client: EngineClient) -> None:
    messages = client.messages()
    next(messages)
    engine.answer(Resume, lambda _: engine.show(Snapshot(state="starting")))
    client.request(Resume(), NoneType)
    assert next(messages) == Snapshot(state="starting")


def test_a_long_reply_arrives_whole(engine: ScriptedEngine, client: EngineClient) -> None:
    engine.answer(ListProjects, [PROJECT] * 20_000)
    assert len(client.request(ListProjects(), list[ProjectInfo])) == 20_000


@pytest.fixture
def ended() -> Iterator[Callable[[int], None]]:
    """Waits for a process to end; kills it after the test if it has not."""
    seen: list[int] = []

    def wait(pid: int) -> None:
        seen.append(pid)
        psutil.Process(pid).wait(5)

    yield wait
    for pid in seen:
        if psutil.pid_exists(pid):
            psutil.Process(pid).kill()


def test_an_engine_is_started_detached_and_once(profile: Profile, ended: Callable[[int], None]) -> None:
    command = [sys.executable, "-c", SCRIPTED]
    assert ensure_engine(profile, command=command) is True
    with EngineClient.connect(profile) as client:
        pid = client.request(GetSnapshot(), Snapshot).engine_pid
        assert os.getsid(pid) == pid
        assert ensure_engine(profile, command=command) is False
        client.request(Quit(), NoneType)
    ended(pid)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other engine starts at the same time, so that none need be waited for."""
    monkeypatch.setattr("core.client.engine_client._OTHERS_START", 0.1)


def test_an_engine_that_cannot_start_tells_why(profile: Profile, alone: None) -> None:
    code = """print('{"kind": "disk_full", "params": {"path": "/data"}}'); raise SystemExit('a line for the log')"""
    with pytest.raises(WorldError, match=r"^disk_full path=/data$"):
        ensure_engine(profile, command=[sys.executable, "-c", code])
    assert "a line for the log" in (profile.logs / "engine-start.log").read_text()


def test_of_an_engine_that_breaks_at_its_start_the_last_line_of_the_log_is_shown(profile: Profile, alone: None) -> None:
    with pytest.raises(WorldError, match=r"^engine_start_failed detail=ZeroDivisionError: division by zero$"):
        ensure_engine(profile, command=[sys.executable, "-c", "1 / 0"])


def test_an_engine_that_ends_without_a_word_names_the_log(profile: Profile, alone: None) -> None:
    with pytest.raises(WorldError, match=r"^engine_start_silent code=3 log=.*engine-start\.log$"):
        ensure_engine(profile, command=[sys.executable, "-c", "raise SystemExit(3)"])


def test_an_engine_that_never_answers_is_ended(profile: Profile, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    code = f"import os, pathlib, time; pathlib.Path({str(pid_file)!r}).write_text(str(os.getpid())); time.sleep(60)"
    with pytest.raises(WorldError, match="engine_start_late"):
        ensure_engine(profile, timeout=1.0, command=[sys.executable, "-c", code])
    assert not psutil.pid_exists(int(pid_file.read_text()))


def test_a_profile_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WorldError, match=r"engine_not_started .*Not a directory"):
        ensure_engine(Profile(tmp_path / "file" / "profile"))
