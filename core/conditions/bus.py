"""Questions to D-Bus services, each with a short time limit. Sensors never start a service that is not running."""

import logging
import os
import select
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from core.api.message import Message
from core.conditions.source import RETRY, NotAvailable

_log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from jeepney import Message as BusMessage
    from jeepney.io.blocking import DBusConnection

TIMEOUT = 1.0
"""Seconds for one answer."""
_START_TIMEOUT = 5.0
"""Seconds for one answer of a service that may have to start."""
_REST = 30.0
"""Seconds before a bus that failed or hung is tried again; otherwise each of its sources would wait in turn."""

_ABSENT = ("org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner")

_MISSING = {"SESSION": Message("session_bus_missing"), "SYSTEM": Message("system_bus_missing")}


class Bus:
    """The session or the system bus, connected on first use. Not thread-safe."""

    def __init__(self, kind: Literal["SESSION", "SYSTEM"], *, starts: bool = False) -> None:
        """`starts`: services that can be started are."""
        self._starts = starts
        self._kind: Literal["SESSION", "SYSTEM"] = kind
        self._connection: DBusConnection | None = None
        self._rests_until = 0.0
        self._failure = _MISSING[kind]
        self._announced_by: tuple[str, ...] = ()

    def listen_to(self, service: str) -> None:
        """Have `heard` say when the service announces something, whenever it starts. Before the first question."""
        self._announced_by += (service,)

    @property
    def files(self) -> list[int]:
        """Descriptors to wait on, until `heard` says something."""
        return [] if self._connection is None else [self._connection.sock.fileno()]

    def heard(self) -> bool:
        """Whether anything was announced since the last question. Does not wait."""
        heard = False
        try:
            while self._connection is not None and select.select(self.files, [], [], 0)[0]:
                self._connection.receive(timeout=TIMEOUT)
                heard = True
        except (OSError, RuntimeError, ValueError, KeyError):
            self.close()
            return True
        return heard

    def get(self, service: str, path: str, interface: str, name: str) -> Any:
        """A property's value.

        Raises:
            NotAvailable: no bus, no such service or property, or no answer in time.
        """
        [(_, value)] = self.call(service, path, "org.freedesktop.DBus.Properties", "Get", interface, name)
        return value

    def call(self, service: str, path: str, interface: str, method: str, *arguments: str) -> tuple[Any, ...]:
        """What the method returns. Raises NotAvailable."""
        message = method_call(service, path, interface, method, arguments, starts=self._starts)
        return tuple(self._ask(message, service).body)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(self, message: "BusMessage", service: str) -> "BusMessage":
        from jeepney import HeaderFields, MessageType

        if time.monotonic() < self._rests_until:
            raise NotAvailable(self._failure)
        try:
            if self._connection is None:
                self._connection = connect(self._kind)
                for announcing in self._announced_by:
                    self._connection.send_message(_subscription(announcing))
            timeout = _START_TIMEOUT if self._starts else TIMEOUT
            reply = self._connection.send_and_get_reply(message, timeout=timeout)
        except TimeoutError:
            raise self._give_up(Message("service_silent", {"service": service})) from None
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            _log.debug("The %s bus cannot be used: %r", self._kind.lower(), error)
            raise self._give_up(_MISSING[self._kind]) from None
        if reply.header.message_type is MessageType.error:
            name = reply.header.fields.get(HeaderFields.error_name, "error")
            if name in _ABSENT:
                raise NotAvailable("service_not_running")
            raise NotAvailable("service_refuses", detail=name.rpartition(".")[2])
        return reply

    def _give_up(self, failure: Message) -> NotAvailable:
        self.close()
        self._rests_until = time.monotonic() + _REST
        self._failure = failure
        return NotAvailable(failure)


def _subscription(service: str) -> "BusMessage":
    """To all signals of a service. The bus answers, which counts as one that is heard."""
    bus = "org.freedesktop.DBus"
    return method_call(bus, "/org/freedesktop/DBus", bus, "AddMatch", (f"type='signal',sender='{service}'",))


def method_call(
    service: str, path: str, interface: str, method: str, arguments: tuple[str, ...], *, starts: bool = False
) -> "BusMessage":
    """A call with text arguments; unless `starts`, it does not start the service."""
    from jeepney import DBusAddress, MessageFlag, new_method_call

    signature = "s" * len(arguments) or None
    message = new_method_call(DBusAddress(path, service, interface), method, signature, arguments)
    if not starts:
        message.header.flags |= MessageFlag.no_auto_start
    return message


class BusSource:
    """What the sources on a bus have in common."""

    retry = RETRY

    def __init__(self, bus: Bus) -> None:
        self._bus = bus


def connect(kind: Literal["SESSION", "SYSTEM"], *, with_descriptors: bool = False) -> "DBusConnection":
    """A new connection that can receive file descriptors. Raises OSError or what jeepney raises."""
    from jeepney.bus import get_bus
    from jeepney.io import blocking

    class Connection(blocking.DBusConnection):  # type: ignore[misc]  # jeepney has no annotations
        """A connection whose authentication has a time limit too."""

        def receive(self, *, timeout: float | None = None) -> "BusMessage":
            return super().receive(timeout=TIMEOUT if timeout is None else timeout)

    address = get_bus(_session_address() if kind == "SESSION" else kind)
    return Connection(blocking.prep_socket(address, with_descriptors, timeout=TIMEOUT), with_descriptors)


def _session_address() -> str:
    """Found as desktop libraries find it: an ssh login has no environment variable although a session may exist."""
    address = os.environ.get("DBUS_SESSION_BUS_ADDRESS")
    if address:
        return address
    socket = Path(os.environ.get("XDG_RUNTIME_DIR", "/nonexistent")) / "bus"
    if not socket.exists():
        raise FileNotFoundError(str(socket))
    return f"unix:path={socket}"
