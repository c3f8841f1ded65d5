"""Before sleep the session says goodbye, and the computer waits for it; afterwards a new one begins."""

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest
from jeepney import DBusAddress, new_method_call

from core.api.intent import Pause
from core.api.sensors import GetSensors, SensorInfo
from core.conditions.sleep.watch import GAP
from tests.conditions.desktop.dbus_services import PrivateBus, Service
from tests.fakes.running_engine import FAKES, RunningEngine
from tests.waiting import wait_for

LOGIND, PATH = "org.freedesktop.login1", "/org/freedesktop/login1"
MANAGER = f"{LOGIND}.Manager"


class Login:
    """logind as a test has it: tells of sleep, and knows who holds it back."""

    def __init__(self, bus: PrivateBus) -> None:
        self._bus = bus
        self._service: Service = bus.template(LOGIND, PATH, "logind")

    def sleep_comes(self, comes: bool) -> None:
        self._service.act("EmitSignal", "sssav", MANAGER, "PrepareForSleep", "b", [("b", comes)])

    def inhibitors(self) -> list[tuple[Any, ...]]:
        message = new_method_call(DBusAddress(PATH, LOGIND, MANAGER), "ListInhibitors")
        found: list[tuple[Any, ...]] = self._bus.ask(message)[0]
        return found


@pytest.fixture
def login(monkeypatch: pytest.MonkeyPatch) -> Iterator[Login]:
    with PrivateBus() as bus:
        monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.address)
        yield Login(bus)


def backbones(engine: RunningEngine) -> list[int]:
    return [pid for pid, command in engine.commands().items() if command[1:2] == [str(FAKES / "scripted_host.py")]]


def test_the_computer_waits_for_the_goodbye_and_a_new_session_follows(login: Login, engine: RunningEngine) -> None:
    engine.script(leaves_after=1.0)
    before = engine.start().contribute()
    [(what, _, _, mode, _, _)] = wait_for(login.inhibitors)
    assert (what, mode) == ("sleep", "delay")
    hosts = backbones(engine)

    login.sleep_comes(True)
    began = time.monotonic()
    engine.until("leaving")
    assert login.inhibitors()
    wait_for(lambda: not login.inhibitors())
    # logind waits no longer than five.
    assert 1.0 <= time.monotonic() - began < 4.5
    asleep = engine.snapshot()
    assert asleep.state == "idle"
    assert [reason.kind for reason in asleep.reasons] == ["going_to_sleep"]
    assert engine.heard()[-1]["type"] == "Leave"

    login.sleep_comes(False)
    after = engine.until("contributing")
    assert before.session is not None
    assert after.session is not None
    assert after.session.pid != before.session.pid
    assert backbones(engine) == hosts
    assert wait_for(login.inhibitors)


def test_a_trainer_that_does_not_leave_is_killed_before_the_computer_sleeps(
    login: Login, engine: RunningEngine
) -> None:
    engine.script(ignores_leave=True)
    engine.start().contribute()
    wait_for(login.inhibitors)
    login.sleep_comes(True)
    began = time.monotonic()
    wait_for(lambda: not login.inhibitors())
    assert time.monotonic() - began < 4.9


def test_without_a_session_nothing_holds_the_computer_back(login: Login, engine: RunningEngine) -> None:
    engine.start()
    wait_for(login.inhibitors)
    login.sleep_comes(True)
    wait_for(lambda: not login.inhibitors(), 2.0)
    login.sleep_comes(False)
    wait_for(login.inhibitors)


def test_who_pauses_while_the_computer_wakes_gets_everything_back(login: Login, engine: RunningEngine) -> None:
    engine.start().contribute()
    wait_for(login.inhibitors)
    login.sleep_comes(True)
    wait_for(lambda: not login.inhibitors())
    assert backbones(engine)
    engine.tell(Pause())
    login.sleep_comes(False)
    wait_for(lambda: not backbones(engine))
    assert engine.until("idle").reasons[0].kind == "paused"


def test_doctor_says_who_tells_of_sleep(login: Login, engine: RunningEngine) -> None:
    engine.start()
    wait_for(login.inhibitors)
    info = next(sensor for sensor in engine.ask(GetSensors(), list[SensorInfo]) if sensor.name == "sleep")
    assert info.in_use == ("logind",)


@pytest.mark.slow
def test_a_computer_that_slept_unannounced_starts_a_new_session(engine: RunningEngine) -> None:
    """Every process is stopped for a while, as by a computer that sleeps and tells nobody."""
    before = engine.start().contribute()
    members = engine.members()
    for member in members:
        os.kill(member.pid, signal.SIGSTOP)
    time.sleep(GAP + 1)  # the time that the computer sleeps
    for member in members:
        os.kill(member.pid, signal.SIGCONT)
    assert before.session is not None
    old = before.session.pid
    wait_for(lambda: (now := engine.snapshot()).state == "contributing" and now.session and now.session.pid != old)
    assert "(woken)" in engine.log()
