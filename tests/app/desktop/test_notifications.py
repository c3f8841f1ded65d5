"""What becomes of a notification that the desktop's service refuses or loses, while it is withdrawn or not."""

from itertools import count
from typing import Any

import pytest
from jeepney import HeaderFields, Message, new_error, new_method_return
from pytestqt.qtbot import QtBot

from app.desktop.notifications import Notification, Notifications

PROBLEM = Notification("A problem", "The disk is full.", urgent=True)
REFUSED = "org.freedesktop.Notifications.Error.ExcessNotificationGeneration"


class Connection:
    """To a service that answers when a test says so."""

    def __init__(self) -> None:
        self.outgoing_serial = count(1)
        self.sent: list[Message] = []

    def send(self, message: Message, serial: int | None = None) -> None:
        message.header.serial = serial or next(self.outgoing_serial)
        self.sent.append(message)

    def calls(self, member: str) -> list[Message]:
        return [each for each in self.sent if each.header.fields[HeaderFields.member] == member]


class Desktop:
    def __init__(self, qtbot: QtBot) -> None:
        self.in_the_tray: list[Notification] = []
        self.notifications = Notifications(self.in_the_tray.append)
        self.connection = Connection()
        self.notifications._connected.emit(self.connection)

    def answer(self, number: int, *, refuse: bool = False) -> None:
        """The `number`-th notification, counted from 0."""
        call = self.connection.calls("Notify")[number]
        reply = new_error(call, REFUSED) if refuse else new_method_return(call, "u", (100 + number,))
        self.notifications._received.emit(reply)

    @property
    def closed(self) -> list[Any]:
        return [call.body[0] for call in self.connection.calls("CloseNotification")]


@pytest.fixture
def desktop(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Desktop:
    monkeypatch.setattr("app.desktop.notifications.sys.platform", "linux")
    return Desktop(qtbot)


def test_one_that_is_refused_is_shown_in_the_tray_and_can_be_withdrawn(desktop: Desktop) -> None:
    desktop.notifications.show(PROBLEM)
    desktop.answer(0, refuse=True)
    assert desktop.in_the_tray == [PROBLEM]
    desktop.notifications.withdraw(PROBLEM)
    assert desktop.closed == []


def test_one_that_is_withdrawn_and_then_refused_leaves_nothing(desktop: Desktop) -> None:
    desktop.notifications.show(PROBLEM)
    desktop.notifications.withdraw(PROBLEM)
    desktop.answer(0, refuse=True)
    assert desktop.in_the_tray == []
    desktop.notifications.show(PROBLEM)
    desktop.answer(1)
    assert desktop.closed == [], "the same problem later is shown as any other"


def test_each_that_is_withdrawn_before_its_answer_is_closed(desktop: Desktop) -> None:
    for _ in range(2):
        desktop.notifications.show(PROBLEM)
        desktop.notifications.withdraw(PROBLEM)
    desktop.answer(0)
    desktop.answer(1)
    assert desktop.closed == [100, 101]


def test_a_service_that_goes_away_leaves_nothing_of_what_is_withdrawn(desktop: Desktop) -> None:
    desktop.notifications.show(PROBLEM)
    desktop.answer(0)
    desktop.notifications.show(PROBLEM._replace(title="Over"))
    desktop.notifications.withdraw(PROBLEM._replace(title="Over"))
    desktop.notifications._connected.emit(None)
    assert desktop.in_the_tray == []
    desktop.notifications.withdraw(PROBLEM)
    assert desktop.closed == []
