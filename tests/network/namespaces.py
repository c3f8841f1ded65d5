"""Several hosts on one machine: network namespaces joined by a switch. Needs root and iproute2, on Linux."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

INTERFACE = "eth0"
SWITCH, ISLAND = "switch", "island"


@dataclass(frozen=True)
class Host:
    namespace: str
    address: str

    switch: str
    """The namespace in which its other end is plugged in."""
    port: str

    def command(self, *argv: str) -> list[str]:
        """The same command, on this host."""
        return ["ip", "netns", "exec", self.namespace, *argv]

    def line(self, state: str) -> None:
        """`down` is a cable that is pulled out, `up` one that is put in again."""
        ip("-n", self.namespace, "link", "set", INTERFACE, state)

    def plug_into(self, switch: str) -> None:
        """Reach only those on that one from now on: `SWITCH`, where everybody begins, or `ISLAND`."""
        ip("-n", self.switch, "link", "set", self.port, "master", switch)


def why_not() -> str | None:
    """What is missing here, None if hosts can be made."""
    if sys.platform != "linux":
        return "network namespaces exist on Linux only"
    if os.geteuid() != 0:
        return "making network namespaces needs root"
    if shutil.which("ip") is None:
        return "there is no `ip` command (package iproute2)"
    with_namespace = ["ip", "netns", "exec", f"hive{os.getpid()}-try", "true"]
    try:
        ip("netns", "add", with_namespace[3])
    except subprocess.CalledProcessError as error:
        return f"this kernel makes no network namespaces: {error.stderr.strip()}"
    ip("netns", "del", with_namespace[3])
    return None


@contextmanager
def hosts(count: int, network: str = "10.77.0") -> Iterator[list[Host]]:
    """That many hosts that reach each other; all of it is gone afterwards."""
    switch = f"hive{os.getpid()}-switch"
    made = [
        Host(f"hive{os.getpid()}-{number}", f"{network}.{number + 1}", switch, f"port{number}")
        for number in range(count)
    ]
    try:
        ip("netns", "add", switch)
        for name in (SWITCH, ISLAND):
            add_switch(switch, name)
        for host in made:
            _plug_in(host)
        yield made
    finally:
        for namespace in (*(host.namespace for host in made), switch):
            # Its interfaces go with it.
            subprocess.run(["ip", "netns", "del", namespace], check=False, capture_output=True)


def add_switch(namespace: str, name: str) -> None:
    """One more to plug hosts into."""
    ip("-n", namespace, "link", "add", name, "type", "bridge")
    ip("-n", namespace, "link", "set", name, "up")


def _plug_in(host: Host) -> None:
    switch, port = host.switch, host.port
    ip("netns", "add", host.namespace)
    ip("-n", switch, "link", "add", port, "type", "veth", "peer", "name", INTERFACE, "netns", host.namespace)
    ip("-n", switch, "link", "set", port, "master", SWITCH, "up")
    ip("-n", host.namespace, "address", "add", f"{host.address}/24", "dev", INTERFACE)
    # Frames as on a real line, 1500 bytes at most: a virtual one carries 64 kB under one header unless told otherwise.
    ip("-n", host.namespace, "link", "set", INTERFACE, "gso_max_size", "1500", "gso_max_segs", "1")
    ip("-n", switch, "link", "set", port, "gso_max_size", "1500", "gso_max_segs", "1")
    for name in ("lo", INTERFACE):
        ip("-n", host.namespace, "link", "set", name, "up")


def ip(*arguments: str) -> None:
    """Run the command of that name."""
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)
