"""When mouse and keyboard were last used: every source, and which of them counts."""

import errno
import os
import time
from pathlib import Path

import pytest

from app.text.messages import sentence
from core.conditions.bus import Bus
from core.conditions.idle.linux import Logind, Mutter, ScreenSaver, XScreenSaver
from core.conditions.idle.wayland import IdleNotify
from core.conditions.idle.x11 import X11
from core.conditions.presence import Presence, PresenceSensor, sources
from core.conditions.source import LINGER, RETRY, NotAvailable
from tests.conditions.desktop.compositor import Compositor
from tests.conditions.desktop.conftest import Clock
from tests.conditions.desktop.dbus_services import PrivateBus, Service
from tests.conditions.desktop.screen import Screen
from tests.waiting import wait_for

MUTTER, CORE = "org.gnome.Mutter.IdleMonitor", "/org/gnome/Mutter/IdleMonitor/Core"
SAVER, SAVER_PATH = "org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"
LOGIND, MANAGER = "org.freedesktop.login1", "/org/freedesktop/login1"


def mutter(bus: PrivateBus, milliseconds: int) -> Service:
    service = bus.service(MUTTER, CORE)
    service.answer(CORE, MUTTER, "GetIdletime", "t", f"ret = {milliseconds}")
    return service


def screen_saver(bus: PrivateBus, idle: int) -> Service:
    service = bus.service(SAVER, SAVER_PATH)
    service.answer(SAVER_PATH, SAVER, "GetSessionIdleTime", "u", f"ret = {idle}")
    return service


def logind(bus: PrivateBus, *, idle: bool, since: float) -> Service:
    service = bus.template(LOGIND, MANAGER, "logind")
    service.act("AddSession", "ssusb", "c1", "seat0", os.getuid(), "me", True)
    session = f"{MANAGER}/session/c1"
    service.add(f"{MANAGER}/user/self", f"{LOGIND}.User", Display=("(so)", ("c1", session)))
    hints = {"IdleHint": ("b", idle), "IdleSinceHint": ("t", round(since * 1e6))}
    service.set(session, f"{LOGIND}.Session", **hints)
    return service


def sensor(clock: Clock) -> PresenceSensor:
    """All of this platform, with one clock for both purposes."""
    return PresenceSensor(sources(Bus("SESSION"), Bus("SYSTEM"), X11(), clock, clock), clock, clock)


def outcome(sensor: PresenceSensor, source: str) -> str:
    return next(sentence(attempt.outcome) for attempt in sensor.info().tried if attempt.source == source)


def test_gnome_tells_it_in_milliseconds(bus: PrivateBus) -> None:
    mutter(bus, 12_500)
    assert Mutter(Bus("SESSION")).read() == 12.5


def test_a_screen_saver_tells_it_in_seconds_and_that_of_kde_in_milliseconds(
    bus: PrivateBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen_saver(bus, 4000)
    source = ScreenSaver(Bus("SESSION"))
    assert source.read() == 4000
    monkeypatch.setenv("XDG_CURRENT_DESKTOP", "KDE")
    assert source.read() == 4


def test_logind_tells_since_when_the_session_is_idle(bus: PrivateBus, clock: Clock) -> None:
    logind(bus, idle=True, since=clock.now - 90)
    assert Logind(Bus("SYSTEM"), clock).read() == pytest.approx(90)


def test_a_session_that_logind_calls_busy_is_in_use(bus: PrivateBus, clock: Clock) -> None:
    logind(bus, idle=False, since=clock.now - 90)
    assert Logind(Bus("SYSTEM"), clock).read() == 0


def test_a_desktop_that_never_told_logind_is_not_taken_for_a_busy_one(bus: PrivateBus, clock: Clock) -> None:
    logind(bus, idle=False, since=0)
    with pytest.raises(NotAvailable, match="idle_never_set"):
        Logind(Bus("SYSTEM"), clock).read()


def test_a_login_without_a_screen_has_no_presence(bus: PrivateBus, clock: Clock) -> None:
    service = bus.template(LOGIND, MANAGER, "logind")
    service.add(f"{MANAGER}/user/self", f"{LOGIND}.User", Display=("(so)", ("", "/")))
    with pytest.raises(NotAvailable, match="session_missing"):
        Logind(Bus("SYSTEM"), clock).read()


class TestX11:
    def test_real_input_sets_the_idle_time_back(self, screen: Screen, x11: X11) -> None:
        source = XScreenSaver(x11)
        wait_for(lambda: source.read() > 0.3, what="idle time that grows")
        before = source.read()
        screen.touch()
        assert source.read() < before

    def test_what_wayland_shows_to_x_programs_is_never_asked(
        self, screen: Screen, monkeypatch: pytest.MonkeyPatch, x11: X11
    ) -> None:
        monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
        with pytest.raises(NotAvailable, match="desktop_is_wayland"):
            XScreenSaver(x11).read()

    def test_a_server_that_ends_costs_a_sentence_and_one_that_is_back_is_found(self, screen: Screen, x11: X11) -> None:
        source = XScreenSaver(x11)
        source.read()
        screen.end_server()
        for _ in range(2):
            with pytest.raises(NotAvailable, match="display"):
                source.read()
        with Screen() as other, pytest.MonkeyPatch.context() as patch:
            patch.setenv("DISPLAY", other.name)
            patch.setenv("XAUTHORITY", str(other.authority))
            assert source.read() >= 0

    def test_a_display_that_does_not_let_us_in_is_told(
        self, screen: Screen, monkeypatch: pytest.MonkeyPatch, x11: X11
    ) -> None:
        monkeypatch.setenv("XAUTHORITY", "/dev/null")
        with pytest.raises(NotAvailable, match=os.strerror(errno.EACCES)):
            XScreenSaver(x11).read()

    def test_a_display_of_another_computer_says_nothing_of_this_one(
        self, monkeypatch: pytest.MonkeyPatch, x11: X11
    ) -> None:
        monkeypatch.setenv("DISPLAY", "localhost:10.0")
        with pytest.raises(NotAvailable, match="display_elsewhere"):
            XScreenSaver(x11).read()


class TestWayland:
    @pytest.fixture
    def path(self, short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(short_folder))
        monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-7")
        return short_folder / "wayland-7"

    def test_the_time_counts_from_the_last_input_to_the_next(self, path: Path, clock: Clock) -> None:
        compositor, source = Compositor(path), IdleNotify(clock)
        assert source.read() == 0
        assert compositor.subscribed.wait(5)
        compositor.tell(idle=True)
        wait_for(lambda: source.read() == 1, what="the event")
        clock.now += 60
        assert source.read() == 61
        compositor.tell(idle=False)
        wait_for(lambda: source.read() == 0, what="the event")
        source.close()
        compositor.close()

    @pytest.mark.parametrize(("version", "opcode"), [(1, 1), (2, 2)])
    def test_only_input_counts_where_the_compositor_can_tell(
        self, path: Path, clock: Clock, version: int, opcode: int
    ) -> None:
        compositor, source = Compositor(path, version=version), IdleNotify(clock)
        source.read()
        assert compositor.subscribed.wait(5)
        assert compositor.heard[-1] == (5, opcode)
        source.close()
        compositor.close()

    def test_a_compositor_without_it_is_told(self, path: Path, clock: Clock) -> None:
        compositor = Compositor(path, has_idle_notify=False)
        with pytest.raises(NotAvailable, match="compositor_without_idle"):
            IdleNotify(clock).read()
        compositor.close()

    def test_a_compositor_that_ends_costs_a_sentence(self, path: Path, clock: Clock) -> None:
        compositor, source = Compositor(path), IdleNotify(clock)
        source.read()
        compositor.close()
        with pytest.raises(NotAvailable, match="compositor_silent"):
            source.read()


class TestWhichCounts:
    def test_the_most_truthful_source_that_answers_is_in_use(
        self, bus: PrivateBus, clock: Clock, screen: Screen
    ) -> None:
        screen_saver(bus, 500)
        presence = sensor(clock)
        presence.read()
        assert presence.info().in_use == ("X11",)
        mutter(bus, 7000)
        clock.now += RETRY
        assert presence.read() == Presence(clock.now - 7)
        assert (presence.info().in_use, outcome(presence, "X11")) == (("Mutter",), "not needed")

    def test_without_any_source_it_is_unknown_and_every_attempt_is_told(self, clock: Clock) -> None:
        presence = sensor(clock)
        assert presence.read() == Presence(None)
        info = presence.info()
        assert (info.known, info.in_use) == (False, ())
        assert outcome(presence, "X11") == "no DISPLAY"
        assert outcome(presence, "Wayland (ext-idle-notify)") == "no WAYLAND_DISPLAY"
        assert outcome(presence, "logind").startswith("no system bus")

    def test_a_source_that_misses_an_answer_does_not_make_the_volunteer_vanish(
        self, bus: PrivateBus, clock: Clock
    ) -> None:
        service = mutter(bus, 1000)
        presence = sensor(clock)
        seen = presence.read()
        service.process.kill()
        service.process.wait()
        clock.now += 0.5
        assert presence.read().last_input == pytest.approx(seen.last_input, abs=1)
        clock.now += LINGER
        assert presence.read() == Presence(None)

    def test_readings_of_the_same_input_give_the_same_value(self, bus: PrivateBus, clock: Clock) -> None:
        service = mutter(bus, 5000)
        presence = sensor(clock)
        first = presence.read()
        clock.now += 10
        service.answer(CORE, MUTTER, "GetIdletime", "t", "ret = 14400")
        assert presence.read() is first
        service.answer(CORE, MUTTER, "GetIdletime", "t", "ret = 0")
        assert presence.read() == Presence(clock.now)

    def test_a_bus_that_hangs_costs_a_second_once(self, bus: PrivateBus, clock: Clock) -> None:
        service = mutter(bus, 1000)
        os.kill(service.process.pid, 19)  # SIGSTOP: there, and silent
        try:
            presence = sensor(clock)
            began = time.monotonic()
            assert presence.read() == Presence(None)
            assert presence.read() == Presence(None)
            assert time.monotonic() - began < 1.8
        finally:
            os.kill(service.process.pid, 18)
        assert "does not answer" in outcome(presence, "Mutter")
