"""A private message bus, and services on it that say what a test tells them to: python-dbusmock in its own process."""

import json
import os
import subprocess
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from jeepney import DBusAddress, Message, MessageType, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.conditions.desktop.processes import end
from tests.waiting import wait_for

# With an own folder of services: nothing of this computer is started by a test's bus.
BUS_SETTINGS = """
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <servicedir>{services}</servicedir>
  <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
</busconfig>
"""
_SYSTEM_PYTHON = "/usr/bin/python3"  # Debian's package is for its own interpreter
_MOCK = "org.freedesktop.DBus.Mock"
Variant = tuple[str, Any]


class Service:
    """One name on the bus. Values are given as variants: `("b", True)`."""

    def __init__(self, connection: DBusConnection, name: str, path: str, process: "subprocess.Popen[bytes]") -> None:
        self._connection = connection
        self.name, self.path = name, path
        self.process = process

    def declare(self, **values: Variant) -> None:
        """Properties that it did not have, on its own path and interface."""
        for name, value in values.items():
            self._tell(self.path, "AddProperty", "ssv", self.name, name, value)

    def set(self, path: str, interface: str, **values: Variant) -> None:
        self._tell(path, "UpdateProperties", "sa{sv}", interface, values)

    def add(self, path: str, interface: str, **values: Variant) -> None:
        """An object with its properties."""
        self._tell(self.path, "AddObject", "ssa{sv}a(ssss)", path, interface, values, [])

    def answer(self, path: str, interface: str, method: str, signature: str, code: str) -> None:
        """What a method returns: `code` is Python that sets `ret`. `signature` may begin with arguments: `s -> as`."""
        takes, _, returns = signature.rpartition(" -> ")
        self._tell(path, "AddMethod", "sssss", interface, method, takes, returns, code)

    def act(self, method: str, signature: str, *arguments: Any) -> None:
        """A method that the template has for tests."""
        self._tell(self.path, method, signature, *arguments)

    def _tell(self, path: str, method: str, signature: str, *arguments: Any) -> None:
        message = new_method_call(DBusAddress(path, self.name, _MOCK), method, signature, arguments)
        reply = self._connection.send_and_get_reply(message, timeout=10)
        assert reply.header.message_type is MessageType.method_return, reply.body


def _connection(address: str) -> DBusConnection | None:
    """None while nobody answers: the socket is there a moment before the bus listens."""
    try:
        return open_dbus_connection(address)
    except (FileNotFoundError, ConnectionRefusedError):
        return None


class PrivateBus:
    """Starts on `with` and ends after, with all its services."""

    def __enter__(self) -> Self:
        with ExitStack() as started:
            folder = Path(started.enter_context(TemporaryDirectory(prefix="hive-bus")))
            self.address = f"unix:path={folder / 'bus'}"
            settings = folder / "bus.conf"
            self._services = folder / "services"
            self._services.mkdir()
            settings.write_text(BUS_SETTINGS.format(socket=folder / "bus", services=self._services).strip())
            self.daemon = subprocess.Popen(["dbus-daemon", "--nofork", "--config-file", settings])
            started.callback(end, self.daemon)
            connection = wait_for(lambda: _connection(self.address), what="a message bus")
            assert connection is not None
            self._connection = started.enter_context(connection)
            self._started = started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._started.close()

    def service(self, name: str, path: str) -> Service:
        """One without properties or methods yet; its interface has its name."""
        return self._start(name, path, "--session", name, path, name)

    def template(self, name: str, path: str, template: str, **parameters: Any) -> Service:
        """One of those that python-dbusmock knows."""
        return self._start(name, path, "--template", template, "--parameters", json.dumps(parameters))

    def can_start(self, name: str, program: str) -> None:
        """From now on, a call to this service starts the program."""
        (self._services / f"{name}.service").write_text(f"[D-BUS Service]\nName={name}\nExec={program}\n")
        bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
        self.ask(new_method_call(bus, "ReloadConfig"))

    def ask(self, message: Message) -> tuple[Any, ...]:
        """What a service answers."""
        reply = self._connection.send_and_get_reply(message, timeout=10)
        assert reply.header.message_type is MessageType.method_return, reply.body
        return tuple(reply.body)

    def _start(self, name: str, path: str, *arguments: str) -> Service:
        process = subprocess.Popen(
            [_SYSTEM_PYTHON, "-m", "dbusmock", *arguments],
            stdout=subprocess.DEVNULL,
            env={**os.environ, "DBUS_SESSION_BUS_ADDRESS": self.address, "DBUS_SYSTEM_BUS_ADDRESS": self.address},
        )
        self._started.callback(end, process)
        wait_for(lambda: self._is_there(name), what=f"the service {name}")
        return Service(self._connection, name, path, process)

    def _is_there(self, name: str) -> bool:
        bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
        message = new_method_call(bus, "NameHasOwner", "s", (name,))
        return bool(self._connection.send_and_get_reply(message, timeout=10).body[0])
