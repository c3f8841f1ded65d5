"""Homes on one machine: a computer behind a router that translates addresses (NAT), as most home lines have it.

Needs nftables, and miniupnpd for routers that map ports; a test is skipped where they are missing.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.network.namespaces import INTERFACE, Host, add_switch, hosts, ip

INSIDE = "lan0"
"""The router's interface on the home's side."""
_OPEN_NETWORK = "11.77.0"
"""Public addresses: routers and libp2p treat those for private use or documentation differently."""
_RULES = f"""
table inet filter {{
    chain input {{
        type filter hook input priority filter; policy accept
        iifname "{INTERFACE}" ct state new drop
    }}
    chain miniupnpd {{ }}
    chain forward {{
        type filter hook forward priority filter; policy drop
        jump miniupnpd
        ct state established,related accept
        iifname "{INSIDE}" accept
    }}
}}
table inet nat {{
    chain prerouting_miniupnpd {{ }}
    chain postrouting_miniupnpd {{ }}
    chain prerouting {{
        type nat hook prerouting priority dstnat
        jump prerouting_miniupnpd
    }}
    chain postrouting {{
        type nat hook postrouting priority srcnat
        oifname "{INTERFACE}" meta nfproto ipv4 masquerade
    }}
}}
"""
"""What comes from the home goes out with the router's address; of what comes from outside only answers go in, and what
a service for port mappings lets in."""
_SERVICE = f"""
ext_ifname={INTERFACE}
listening_ip={INSIDE}
enable_upnp=yes
enable_natpmp=yes
secure_mode=yes
upnp_table_name=filter
upnp_nat_table_name=nat
upnp_forward_chain=miniupnpd
upnp_nat_chain=prerouting_miniupnpd
upnp_nat_postrouting_chain=postrouting_miniupnpd
uuid=00000000-0000-4000-8000-000000000000
allow 1024-65535 0.0.0.0/0 1024-65535
deny 0-65535 0.0.0.0/0 0-65535
"""


@dataclass(frozen=True)
class Home:
    router: Host
    """`address` is the one that others see."""
    computer: Host
    switch: str
    """The home's own, which only router and computer are plugged into."""
    network: str

    def take(self, computer: Host) -> None:
        """Plug a computer in here, and give it an address of this home: the first one is the router's."""
        address = f"{self.network}.{2 if computer == self.computer else 3}"
        computer.plug_into(self.switch)
        ip("-n", computer.namespace, "address", "flush", "dev", INTERFACE)
        ip("-n", computer.namespace, "address", "add", f"{address}/24", "dev", INTERFACE)
        ip("-n", computer.namespace, "route", "add", "default", "via", f"{self.network}.1")

    def let_in_by_ipv6(self, port: int) -> None:
        """The router passes calls on to this port from now on."""
        rule = f"nft add rule inet filter forward meta nfproto ipv6 tcp dport {port} accept"
        _run(self.router, *rule.split())

    def speak_no_nat_pmp(self) -> None:
        """The router drops requests of NAT-PMP from now on: version 0 of the protocol whose version 2 is PCP."""
        rule = f"nft insert rule inet filter input iifname {INSIDE} udp dport 5351 @th,64,8 0 drop"
        _run(self.router, *rule.split())

    def dial_in_again(self) -> None:
        """The router has another address outside from now on, and knows no connection any more."""
        ip("-n", self.router.namespace, "address", "flush", "dev", INTERFACE)
        network, _, number = self.router.address.rpartition(".")
        ip("-n", self.router.namespace, "address", "add", f"{network}.{int(number) + 100}/24", "dev", INTERFACE)


@contextmanager
def vpn(computer: Host, provider: Host) -> Iterator[None]:
    """All that the computer sends goes through this provider, which is a router, while the block runs.

    As with real ones, more specific routes hide the default one, what comes from another address than the tunnel's is
    dropped, and the interface vanishes at the end.
    """
    own, other = "10.99.0.2", "10.99.0.1"
    tunnel = ["type", "veth", "peer", "name", "tun0", "netns", computer.namespace]
    ip("-n", provider.namespace, "link", "add", "vpn0", *tunnel)
    for host, name, address in ((provider, "vpn0", other), (computer, "tun0", own)):
        ip("-n", host.namespace, "address", "add", f"{address}/24", "dev", name)
        ip("-n", host.namespace, "link", "set", name, "up")
    rule = "nft add rule inet filter forward iifname vpn0 ip saddr 10.99.0.0/24 accept"
    _run(provider, *rule.split())
    try:
        for half in ("0.0.0.0/1", "128.0.0.0/1"):
            ip("-n", computer.namespace, "route", "add", half, "via", other, "dev", "tun0")
        yield
    finally:
        ip("-n", computer.namespace, "link", "del", "tun0")


def _skip_without(command: str, package: str) -> None:
    if shutil.which(command) is None:
        pytest.skip(f"there is no `{command}` command (package {package})")


@contextmanager
def mapping_service(router: Host, folder: Path, **changes: str) -> Iterator[None]:
    """A router that maps ports for whom it is asked by UPnP or NAT-PMP: miniupnpd, which many routers run.

    `changes` are lines of its configuration that are otherwise.
    """
    _skip_without("miniupnpd", "miniupnpd-nftables")
    lines = [line for line in _SERVICE.splitlines() if line.partition("=")[0] not in changes]
    (folder / "miniupnpd.conf").write_text("\n".join([*(f"{name}={value}" for name, value in changes.items()), *lines]))
    command = router.command(
        "miniupnpd", "-d", "-f", str(folder / "miniupnpd.conf"), "-P", str(folder / "miniupnpd.pid")
    )
    with (folder / "miniupnpd.log").open("wb") as log:
        service = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield
    finally:
        service.terminate()
        service.wait(10)


def mapped_ports(router: Host) -> dict[int, str]:
    """Ports of the router and the place inside that each of them leads to."""
    rules = _run(router, "nft", "list", "chain", "inet", "nat", "prerouting_miniupnpd")
    return {int(port): place for port, place in re.findall(r"dport (\d+) dnat ip to (\S+)", rules)}


@contextmanager
def homes(count: int) -> Iterator[tuple[Host, list[Home]]]:
    """A host in the open, and that many homes which reach it, each behind a router that lets nobody call in."""
    _skip_without("nft", "nftables")
    with hosts(1 + 2 * count, _OPEN_NETWORK) as (far, *others):
        yield far, [_home(number, *others[2 * number : 2 * number + 2]) for number in range(count)]


def _home(number: int, router: Host, computer: Host) -> Home:
    switch, network = f"home{number}", f"192.168.{number}"
    add_switch(router.switch, switch)
    port = f"{switch}-{INSIDE}"
    ip("-n", router.switch, "link", "add", port, "type", "veth", "peer", "name", INSIDE, "netns", router.namespace)
    ip("-n", router.switch, "link", "set", port, "master", switch, "up")
    ip("-n", router.namespace, "address", "add", f"{network}.1/24", "dev", INSIDE)
    ip("-n", router.namespace, "link", "set", INSIDE, "up")
    _run(router, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
    _run(router, "nft", "-f", "-", standard_input=_RULES)
    home = Home(router, replace(computer, address=f"{network}.2"), switch, network)
    home.take(home.computer)
    return home


def _run(host: Host, *command: str, standard_input: str = "") -> str:
    done = subprocess.run(host.command(*command), input=standard_input, check=True, capture_output=True, text=True)
    return done.stdout
