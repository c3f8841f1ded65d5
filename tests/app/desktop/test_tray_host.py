"""When a panel that shows the icon comes, and when it is missed."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.desktop.tray_host import TIMEOUT, TrayHost


class Desktop:
    """Has a panel or not, at a time that is set."""

    def __init__(self) -> None:
        self.panel = False
        self.now = 100.0

    def look(self, host: TrayHost, after: float, *, panel: bool) -> None:
        self.now += after
        self.panel = panel
        host.poll()


@pytest.fixture
def desktop() -> Desktop:
    return Desktop()


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def host(desktop: Desktop, told: list[str], qtbot: QtBot) -> Iterator[TrayHost]:
    made = TrayHost(None, lambda: desktop.panel, lambda: desktop.now)
    made.came.connect(lambda: told.append("came"))
    made.missed.connect(lambda: told.append("missed"))
    yield made
    made.stop()
    made.deleteLater()


def test_a_panel_that_starts_a_little_later_is_waited_for(host: TrayHost, desktop: Desktop, told: list[str]) -> None:
    desktop.look(host, TIMEOUT - 1, panel=False)
    assert told == []
    desktop.look(host, 2, panel=True)
    assert told == ["came"]
    desktop.look(host, 100, panel=True)
    assert told == ["came"]


def test_a_panel_that_does_not_come_is_missed_once(host: TrayHost, desktop: Desktop, told: list[str]) -> None:
    desktop.look(host, TIMEOUT, panel=False)
    desktop.look(host, TIMEOUT, panel=False)
    assert told == ["missed"]


def test_a_panel_that_goes_away_is_missed_and_one_that_is_restarted_is_not(
    host: TrayHost, desktop: Desktop, told: list[str]
) -> None:
    desktop.look(host, 1, panel=True)
    desktop.look(host, 3600, panel=False)
    assert told == ["came", "missed"], "it may have been gone for as long as nobody looked"
    desktop.look(host, 1, panel=True)
    desktop.look(host, 3, panel=False)
    desktop.look(host, 3, panel=True)
    assert told == ["came", "missed", "came", "came"]
