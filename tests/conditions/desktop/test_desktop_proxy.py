"""The desktop's proxy, from a portal on a private bus and from KDE's file."""

import signal
from pathlib import Path

import pytest

from core.api.errors import WorldError
from core.conditions import bus as questions
from core.conditions import desktop_proxy
from core.conditions.desktop_proxy import DesktopProxy, first_usable
from tests.conditions.desktop.dbus_services import PrivateBus

PORTAL, PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
RESOLVER = "org.freedesktop.portal.ProxyResolver"


def test_the_portal_is_asked_for_the_server_alone_and_not_at_each_request(bus: PrivateBus) -> None:
    portal = bus.service(PORTAL, PATH)
    portal.answer(PATH, RESOLVER, "Lookup", "s -> as", "ret = ['http://' + args[0].split('/')[2] + ':3128']")
    ask = DesktopProxy()
    assert ask("https://ann:secret@a.example/with?token=1") == "http://a.example:3128"
    assert ask("https://b.example/") == "http://b.example:3128"
    portal.answer(PATH, RESOLVER, "Lookup", "s -> as", "ret = ['direct://']")
    assert ask("https://a.example/other") == "http://a.example:3128"
    assert ask("https://c.example/") == ""


def test_without_a_portal_there_is_none(bus: PrivateBus) -> None:
    assert DesktopProxy()("https://a.example/") == ""


def test_a_portal_that_does_not_answer_is_not_taken_for_one_without_a_proxy(
    bus: PrivateBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "_START_TIMEOUT", 0.3)
    portal = bus.service(PORTAL, PATH)
    portal.process.send_signal(signal.SIGSTOP)
    ask = DesktopProxy()
    try:
        for _ in range(2):
            with pytest.raises(WorldError, match="desktop_proxy_silent"):
                ask("https://a.example/")
    finally:
        portal.process.send_signal(signal.SIGCONT)


def test_once_a_proxy_was_named_a_portal_that_is_gone_is_waited_for(
    bus: PrivateBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desktop_proxy, "_FRESH", 0.0)
    portal = bus.service(PORTAL, PATH)
    portal.answer(PATH, RESOLVER, "Lookup", "s -> as", "ret = ['http://p.example:3128']")
    ask = DesktopProxy()
    assert ask("https://a.example/")
    portal.process.kill()
    portal.process.wait(10)
    with pytest.raises(WorldError, match="desktop_proxy_silent"):
        ask("https://a.example/")


def test_a_portal_that_cannot_start_matters_only_in_a_desktop(bus: PrivateBus, monkeypatch: pytest.MonkeyPatch) -> None:
    bus.can_start(PORTAL, "/bin/false")
    assert DesktopProxy()("https://a.example/") == ""
    monkeypatch.setenv("XDG_CURRENT_DESKTOP", "GNOME")
    with pytest.raises(WorldError, match="desktop_proxy_silent"):
        DesktopProxy()("https://a.example/")


def test_a_portal_that_comes_later_is_asked(bus: PrivateBus) -> None:
    ask = DesktopProxy()
    assert ask("https://a.example/") == ""
    portal = bus.service(PORTAL, PATH)
    portal.answer(PATH, RESOLVER, "Lookup", "s -> as", "ret = ['http://p.example:3128']")
    assert ask("https://a.example/") == "http://p.example:3128"


@pytest.mark.parametrize(
    ("offered", "used"),
    [
        (["socks://s.example:1080", "direct://"], "socks5h://s.example:1080"),
        (["socks4://s.example:1", "https://p.example:443"], "https://p.example:443"),
        (["direct://", "http://p.example:3128"], ""),
        ([], ""),
    ],
)
def test_the_first_that_can_be_used_is(offered: list[str], used: str) -> None:
    assert first_usable(offered) == used


def test_kdes_settings_are_read_from_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CURRENT_DESKTOP", "KDE")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert DesktopProxy()("https://a.example/") == ""
    file = tmp_path / "kioslaverc"
    given = "[Proxy Settings]\nProxyType={kind}\nhttpsProxy=http://p.example 3128\nsocksProxy=socks://s.example 1080\n"
    file.write_text(given.format(kind=1) + "NoProxyFor=.inside.example,10.0.0.0/8\n")
    ask = DesktopProxy()
    assert ask("https://a.example/") == "http://p.example:3128"
    assert ask("http://a.example/") == "socks5h://s.example:1080"
    assert ask("https://b.inside.example/") == ""
    assert ask("http://10.1.2.3/") == ""
    file.write_text(given.format(kind=2))
    assert DesktopProxy()("https://a.example/") == ""
    file.write_text("no settings")
    assert DesktopProxy()("https://a.example/") == ""
