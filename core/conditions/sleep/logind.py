"""Sleep on Linux: logind's PrepareForSleep, and a delay inhibitor (systemd-logind's D-Bus interface; at most
InhibitDelayMaxSec, 5 s by default)."""

import logging
import os
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from core.conditions.bus import TIMEOUT, connect, method_call
from core.conditions.sleep.announcer import Announcer
from core.conditions.source import NotAvailable

if TYPE_CHECKING:
    from jeepney import Message
    from jeepney.io.blocking import DBusConnection

_SERVICE, _PATH = "org.freedesktop.login1", "/org/freedesktop/login1"
_MANAGER = f"{_SERVICE}.Manager"

_log = logging.getLogger(__name__)


class Logind(Announcer):
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
            raise NotAvailable("system_bus_missing") from None
        self.delay_sleep()
        return self._is_near()

    def wait(self, seconds: float) -> bool | None:
        if self._connection is None:
            raise NotAvailable("system_bus_missing")
        try:
            return bool(self._connection.recv_until_filtered(self._signals, timeout=seconds).body[0])
        except TimeoutError:
            return None
        except (OSError, RuntimeError, ValueError) as error:
            _log.debug("logind is gone: %r", error)
            raise NotAvailable("bus_gone") from None

    def delay_sleep(self) -> None:
        if self._inhibitor is not None:
            return
        [handle] = self._call(_MANAGER, "Inhibit", "sleep", "Idlehive", "Leaving the peers in order", "delay")
        with self._lock:
            self._inhibitor = handle.to_raw_fd()

    def allow_sleep(self) -> None:
        with self._lock:
            if self._inhibitor is not None:
                os.close(self._inhibitor)
                self._inhibitor = None

    def close(self) -> None:
        self.allow_sleep()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _is_near(self) -> bool:
        try:
            [(_, near)] = self._call("org.freedesktop.DBus.Properties", "Get", _MANAGER, "PreparingForSleep")
        except NotAvailable:
            return False
        return bool(near)

    def _call(self, interface: str, method: str, *arguments: str) -> tuple[Any, ...]:
        return self._ask(method_call(_SERVICE, _PATH, interface, method, arguments))

    def _ask(self, message: "Message") -> tuple[Any, ...]:
        from jeepney import MessageType

        if self._connection is None:
            raise NotAvailable("system_bus_missing")
        try:
            reply = self._connection.send_and_get_reply(message, timeout=TIMEOUT)
        except (OSError, RuntimeError, ValueError) as error:
            _log.debug("logind does not answer: %r", error)
            raise NotAvailable("service_silent", service="logind") from None
        if reply.header.message_type is MessageType.error:
            raise NotAvailable("logind_unavailable")
        return tuple(reply.body)
