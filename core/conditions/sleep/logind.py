"""Sleep on Linux: logind's PrepareForSleep, and a delay inhibitor (systemd-logind's D-Bus interface; at most
InhibitDelayMaxSec, 5 s by default)."""

import logging
import os
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from core.conditions.bus import PATIENCE, connect
from core.conditions.source import NotAvailable

if TYPE_CHECKING:
    from jeepney import Message
    from jeepney.io.blocking import DBusConnection

_SERVICE, _PATH = "org.freedesktop.login1", "/org/freedesktop/login1"
_MANAGER = f"{_SERVICE}.Manager"

_log = logging.getLogger(__name__)


class Logind:
    name = "logind"

    def __init__(self) -> None:
        self._connection: DBusConnection | None = None
        self._signals: deque[Message] = deque(maxlen=16)
        self._lock = threading.Lock()
        self._inhibitor: int | None = None

    def open(self) -> bool:
        from jeepney import MatchRule, message_bus

        try:
            self._connection = connect("SYSTEM", with_descriptors=True)
            signal = {"type": "signal", "path": _PATH, "interface": _MANAGER, "member": "PrepareForSleep"}
            self._ask(message_bus.AddMatch(MatchRule(sender=_SERVICE, **signal)))
            # Signals carry the sender's unique name; the bus has matched the well-known one.
            self._connection.filter(MatchRule(**signal), queue=self._signals)
        except (OSError, RuntimeError, ValueError, KeyError, TimeoutError) as error:
            _log.debug("logind cannot be used: %r", error)
            raise NotAvailable("bus_missing", bus="system") from None
        self.hold_back()
        return self._is_near()

    def wait(self, seconds: float) -> bool | None:
        if self._connection is None:
            raise NotAvailable("bus_missing", bus="system")
        try:
            return bool(self._connection.recv_until_filtered(self._signals, timeout=seconds).body[0])
        except TimeoutError:
            return None
        except (OSError, RuntimeError, ValueError) as error:
            _log.debug("logind is gone: %r", error)
            raise NotAvailable("bus_gone") from None

    def hold_back(self) -> None:
        if self._inhibitor is not None:
            return
        words = ("sleep", "Idlehive", "Saying goodbye to the peers", "delay")
        [handle] = self._call(_MANAGER, "Inhibit", "ssss", words)
        with self._lock:
            self._inhibitor = handle.to_raw_fd()

    def let_go(self) -> None:
        with self._lock:
            if self._inhibitor is not None:
                os.close(self._inhibitor)
                self._inhibitor = None

    def close(self) -> None:
        self.let_go()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _is_near(self) -> bool:
        try:
            properties = "org.freedesktop.DBus.Properties"
            [(_, near)] = self._call(properties, "Get", "ss", (_MANAGER, "PreparingForSleep"))
        except NotAvailable:
            return False
        return bool(near)

    def _call(self, interface: str, method: str, signature: str, arguments: tuple[str, ...]) -> tuple[Any, ...]:
        from jeepney import DBusAddress, MessageFlag, new_method_call

        message = new_method_call(DBusAddress(_PATH, _SERVICE, interface), method, signature, arguments)
        message.header.flags |= MessageFlag.no_auto_start
        return self._ask(message)

    def _ask(self, message: "Message") -> tuple[Any, ...]:
        from jeepney import MessageType

        if self._connection is None:
            raise NotAvailable("bus_missing", bus="system")
        try:
            reply = self._connection.send_and_get_reply(message, timeout=PATIENCE)
        except (OSError, RuntimeError, ValueError) as error:
            _log.debug("logind does not answer: %r", error)
            raise NotAvailable("service_silent", service="logind") from None
        if reply.header.message_type is MessageType.error:
            raise NotAvailable("logind_unavailable")
        return tuple(reply.body)
