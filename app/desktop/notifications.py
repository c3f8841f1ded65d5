"""The desktop's notification service, or the tray's own messages where there is none.

The protocol is the Desktop Notifications Specification 1.2 of freedesktop.org. It wants unsigned 32-bit numbers, which
QtDBus cannot send from Python, so the messages are jeepney's. Connecting and reading have a thread of their own, which
starts with the first notification: a bus that hangs costs a notification and nothing else.
"""

import contextlib
import html
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, Signal

from app.text.i18n import tr
from app.widgets.icons import LOGO_FILE

_SERVICE, _PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"


class Notification(NamedTuple):
    """A short heading, and a sentence or two."""

    title: str
    text: str
    urgent: bool = False
    """Stays until it is dismissed, where the desktop supports that."""


class Notifications(QObject):
    """`show` never blocks. `otherwise` shows what the service refused. `clicked`: a notification was chosen."""

    clicked = Signal()
    _connected = Signal(object)
    _received = Signal(object)

    def __init__(self, otherwise: Callable[[Notification], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._otherwise = otherwise
        self._connection: Any = None
        self._is_connecting = False
        self._waiting: list[Notification] = []
        self._asked: dict[int, Notification | None] = {}
        """By the serial number of the call, until it is answered; None: withdrawn meanwhile."""
        self._shown: dict[int, Notification] = {}
        """By the service's number, until it is closed."""
        self._connected.connect(self._on_connected)
        self._received.connect(self._on_received)

    def show(self, notification: Notification) -> None:
        if sys.platform != "linux":
            self._otherwise(notification)
        elif self._connection is not None:
            self._send(notification)
        else:
            self._waiting.append(notification)
            if not self._is_connecting:
                self._is_connecting = True
                threading.Thread(target=self._listen, name="notifications", daemon=True).start()

    def withdraw(self, notification: Notification) -> None:
        """Take it off the screen: what it says is over."""
        self._waiting = [waiting for waiting in self._waiting if waiting != notification]
        for serial in [serial for serial, asked in self._asked.items() if asked == notification]:
            self._asked[serial] = None
        for number in [number for number, shown in self._shown.items() if shown == notification]:
            self._close(number)

    def _close(self, number: int) -> None:
        with contextlib.suppress(OSError):
            self._connection.send(_method("CloseNotification", "u", (number,)))

    def _listen(self) -> None:
        from jeepney.io.blocking import open_dbus_connection

        try:
            with open_dbus_connection("SESSION") as connection:
                self._connected.emit(connection)
                while True:
                    self._received.emit(connection.receive())
        # No bus at all is a KeyError of the library's or an OSError; a bus that goes away an EOFError or OSError.
        except (OSError, EOFError, LookupError, ValueError, RuntimeError):
            self._connected.emit(None)

    def _on_connected(self, connection: Any) -> None:
        self._connection, self._is_connecting = connection, False
        if connection is None:
            lost, self._asked = [*filter(None, self._asked.values()), *self._waiting], {}
            self._waiting, self._shown = [], {}
            for notification in lost:
                self._otherwise(notification)
            return
        from jeepney import MatchRule, message_bus

        signals = MatchRule(type="signal", interface=_SERVICE, path=_PATH)
        connection.send(message_bus.AddMatch(signals))
        waiting, self._waiting = self._waiting, []
        for notification in waiting:
            self._send(notification)

    def _send(self, notification: Notification) -> None:
        serial = next(self._connection.outgoing_serial)
        self._asked[serial] = notification
        try:
            self._connection.send(_call(notification), serial=serial)
        except OSError:
            self._on_connected(None)

    def _on_received(self, message: Any) -> None:
        from jeepney import HeaderFields, MessageType

        kind, fields = message.header.message_type, message.header.fields
        serial = fields.get(HeaderFields.reply_serial, 0)
        if serial in self._asked:
            asked = self._asked.pop(serial)
            self._on_answer(asked, None if kind is MessageType.error else message.body[0])
        elif kind is MessageType.signal and fields.get(HeaderFields.interface) == _SERVICE:
            self._on_signal(fields.get(HeaderFields.member), message.body[0])

    def _on_answer(self, asked: Notification | None, number: int | None) -> None:
        """`number` is the service's; None: it has refused. `asked` is None if what it says is over already."""
        if number is None:
            if asked is not None:
                self._otherwise(asked)
        elif asked is None:
            self._close(number)
        else:
            self._shown[number] = asked

    def _on_signal(self, name: str | None, number: int) -> None:
        if number not in self._shown:
            return  # another program's
        if name == "ActionInvoked":
            self.clicked.emit()
        elif name == "NotificationClosed":
            self._shown.pop(number, None)


def _call(notification: Notification) -> Any:
    hints = {"urgency": ("y", 2 if notification.urgent else 1), "desktop-entry": ("s", "idlehive")}
    text = html.escape(notification.text, quote=False)  # servers may read markup in it
    actions = ["default", tr("Open Idlehive")]
    body = ("Idlehive", 0, str(LOGO_FILE), notification.title, text, actions, hints, -1)
    return _method("Notify", "susssasa{sv}i", body)


def _method(name: str, signature: str, body: tuple[Any, ...]) -> Any:
    from jeepney import DBusAddress, new_method_call

    address = DBusAddress(_PATH, bus_name=_SERVICE, interface=_SERVICE)
    return new_method_call(address, name, signature, body)
