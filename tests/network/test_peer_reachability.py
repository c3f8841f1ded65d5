"""How real peers find out how others reach them: behind real routers, with an open port, and by IPv6."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.machine import wait_for
from tests.network.lineups.homes import INSIDE, Home, homes, mapped_ports, mapping_service, vpn
from tests.network.namespaces import INTERFACE, Host, ip
from tests.network.peers.peer_process import start_peer

SURVIVED_WITHIN = 15.0
"""Seconds from a change of the network until the backbone answers again."""
BACKBONE_PORT, PORT = 31000, 31001
ROUTER = "fe80::1"
ELSEWHERE = "11.88.0.9"
"""A public address of nobody here."""
LEASE = 60.0
"""Seconds for which the daemon asks for a port."""

pytestmark = pytest.mark.timeout(300)


class ReachabilityPeer:
    """`reachability_peer`, in a process under the subreaper."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def says(self) -> Any:
        """Its next line."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the peer has ended; its log has the reason"
        return json.loads(line)

    def is_near(self) -> bool:
        """Whether its backbone answers."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return bool(self.says()["near"])

    def end(self) -> None:
        self.process.communicate(timeout=30)


Start = Callable[..., ReachabilityPeer]


@pytest.fixture
def start(short_folder: Path) -> Iterator[Start]:
    """Starts a peer on a host: its port, whether the router is to map one, and the backbone's addresses."""
    names = map(str, count())
    with ExitStack() as opened:

        def started(host: Host, port: int, maps_port: bool, *initial_peers: str) -> ReachabilityPeer:
            arguments = [str(port), "yes" if maps_port else "no", *initial_peers]
            made = ReachabilityPeer(start_peer("reachability_peer", host, short_folder, next(names), *arguments))
            opened.callback(made.end)
            return made

        yield started


def test_a_port_that_the_router_maps_is_used_and_withdrawn(start: Start, short_folder: Path) -> None:
    with homes(1) as (far, (home,)), mapping_service(home.router, short_folder):
        contact = start(far, BACKBONE_PORT, False).says()
        peer = start(home.computer, 0, True, *outside(contact, far))
        assert peer.says() == {"reachability": "router", "client": False}
        [place] = mapped_ports(home.router).values()
        assert place.startswith(home.computer.address)
        peer.end()
        assert mapped_ports(home.router) == {}


def test_a_router_that_knows_nat_pmp_alone_maps_a_port_too_and_forgets_it_soon(
    start: Start, short_folder: Path
) -> None:
    with homes(1) as (far, (home,)), mapping_service(home.router, short_folder, enable_upnp="no"):
        contact = start(far, BACKBONE_PORT, False).says()
        peer = start(home.computer, PORT, True, *outside(contact, far))
        assert peer.says() == {"reachability": "router", "client": False}
        peer.end()
        # The daemon's library for NAT-PMP withdraws nothing; what it asked for lasts a minute.
        wait_for(lambda: not mapped_ports(home.router), LEASE + 15.0, "the router forgets it")


@pytest.mark.parametrize("port", [0, PORT])
def test_a_router_that_knows_pcp_alone_maps_a_port_too_until_the_peer_ends(
    start: Start, short_folder: Path, port: int
) -> None:
    with homes(1) as (far, (home,)), mapping_service(home.router, short_folder, enable_upnp="no"):
        home.speak_no_nat_pmp()
        contact = start(far, BACKBONE_PORT, False).says()
        peer = start(home.computer, port, True, *outside(contact, far))
        assert peer.says() == {"reachability": "router", "client": False}
        [place] = mapped_ports(home.router).values()
        assert place.startswith(home.computer.address)
        peer.end()
        assert mapped_ports(home.router) == {}


@pytest.mark.parametrize(
    ("port", "maps_port", "found"), [(0, True, "no_mapping"), (PORT, False, "blocked"), (0, False, "outgoing")]
)
def test_behind_a_router_that_maps_nothing_a_peer_only_calls_out(
    start: Start, port: int, maps_port: bool, found: str
) -> None:
    with homes(1) as (far, (home,)):
        contact = start(far, BACKBONE_PORT, False).says()
        peer = start(home.computer, port, maps_port, *outside(contact, far))
        assert peer.says() == {"reachability": found, "client": True}


@pytest.mark.parametrize(("knows_better", "found"), [(True, "second_router"), (False, "no_mapping")])
def test_a_port_that_the_inner_one_of_two_routers_maps_is_not_taken_for_an_open_one(
    start: Start, short_folder: Path, knows_better: bool, found: str
) -> None:
    # Some routers map a port all the same; miniupnpd only if it is told an address, since its own is private.
    claimed = {"ext_ip": ELSEWHERE} if knows_better else {}
    with homes(2) as (far, (outer, inner)), mapping_service(inner.router, short_folder, **claimed):
        outer.take(inner.router)
        contact = start(far, BACKBONE_PORT, False).says()
        peer = start(inner.computer, 0, True, *outside(contact, far))
        assert peer.says() == {"reachability": found, "client": True}
        assert peer.is_near()
        assert mapped_ports(inner.router) == {}


def test_a_port_that_the_router_maps_is_found_although_it_lets_no_call_in_by_ipv6(
    start: Start, short_folder: Path
) -> None:
    with homes(1) as (far, (home,)), mapping_service(home.router, short_folder):
        give_ipv6(far, home)
        contact = start(far, BACKBONE_PORT, False).says()
        peer = start(home.computer, 0, True, *outside(contact, far))
        assert peer.says() == {"reachability": "router", "client": False}


def test_a_router_that_speaks_pcp_lets_calls_in_by_ipv6_for_as_long_as_the_peer_is_there(
    start: Start, short_folder: Path
) -> None:
    # Without UPnP and NAT-PMP for IPv4: the provider has no address for each customer.
    with homes(1) as (far, (home,)):
        give_ipv6(far, home)
        contact = start(far, BACKBONE_PORT, False).says()
        by_ipv6 = [address for address in outside(contact, far) if address.startswith("/ip6/")]
        with mapping_service(home.router, short_folder, enable_upnp="no"):
            peer = start(home.computer, PORT, True, *by_ipv6)
            assert peer.says() == {"reachability": "ipv6", "client": False}
            assert "0x20010db8" in let_in(home)
            peer.end()
            assert "0x20010db8" not in let_in(home)


def test_a_computer_in_the_open_is_reached_at_its_port(start: Start) -> None:
    with homes(1) as (far, (home,)):
        contact = start(far, BACKBONE_PORT, False).says()
        peer = start(home.router, PORT, False, *outside(contact, far))
        # The router's own rules let nobody in; then they do.
        assert peer.says() == {"reachability": "blocked", "client": True}
        subprocess.run(home.router.command("nft", "flush", "chain", "inet", "filter", "input"), check=True)
        again = start(home.router, PORT, False, *outside(contact, far))
        assert again.says() == {"reachability": "open_port", "client": False}


def test_where_there_is_ipv6_the_peer_is_reached_by_it(start: Start) -> None:
    with homes(1) as (far, (home,)):
        give_ipv6(far, home)
        home.let_in_by_ipv6(PORT)
        contact = start(far, BACKBONE_PORT, False).says()
        peer = start(home.computer, PORT, False, *outside(contact, far))
        assert peer.says() == {"reachability": "ipv6", "client": False}


def test_a_port_that_is_lost_with_its_router_is_noticed(start: Start, short_folder: Path) -> None:
    with homes(2) as (far, (home, elsewhere)), mapping_service(home.router, short_folder):
        contact = start(far, BACKBONE_PORT, False).says()
        peer = start(home.computer, PORT, True, *outside(contact, far))
        assert peer.says() == {"reachability": "router", "client": False}
        elsewhere.take(home.computer)
        began = time.monotonic()
        assert peer.says() == {"reachability": "blocked", "client": False}
        print(f"noticed after {time.monotonic() - began:.1f} s")


@pytest.mark.parametrize("change", ["another network", "another address of the router"])
def test_a_peer_whose_connections_lead_nowhere_makes_new_ones(start: Start, change: str) -> None:
    with homes(2) as (far, (home, elsewhere)):
        contact = start(far, BACKBONE_PORT, False).says()
        peer = start(home.computer, 0, False, *outside(contact, far))
        assert peer.says() == {"reachability": "outgoing", "client": True}
        assert peer.is_near()
        elsewhere.take(home.computer) if change == "another network" else home.dial_in_again()
        began = time.monotonic()
        wait_for(peer.is_near, 100.0, "the backbone answers")
        print(f"{change}: {time.monotonic() - began:.1f} s")
        assert time.monotonic() - began < SURVIVED_WITHIN


def test_a_peer_survives_that_a_vpn_begins_and_ends(start: Start) -> None:
    with homes(2) as (far, (home, provider)):
        contact = start(far, BACKBONE_PORT, False).says()
        peer = start(home.computer, 0, False, *outside(contact, far))
        assert peer.says() == {"reachability": "outgoing", "client": True}
        assert peer.is_near()
        with vpn(home.computer, provider.router):
            answers_through(peer, provider.router, far)
        answers_through(peer, home.router, far)


def answers_through(peer: ReachabilityPeer, router: Host, far: Host) -> None:
    """The peer's backbone, which is on the far host, soon after a change of the way to it."""
    began = time.monotonic()
    wait_for(lambda: peer.is_near() and connects(router, far), 100.0, "the backbone answers")
    print(f"the backbone answers through {router.namespace} after {time.monotonic() - began:.1f} s")
    assert time.monotonic() - began < SURVIVED_WITHIN


def connects(router: Host, far: Host) -> bool:
    """Whether the far host has a connection with the address of this router."""
    command = far.command("ss", "-Htn", "state", "established")
    return f"{router.address}:" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def let_in(home: Home) -> str:
    """The rules by which the router passes calls on."""
    return subprocess.run(
        home.router.command("nft", "list", "chain", "inet", "filter", "miniupnpd"),
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def outside(addresses: list[str], of: Host) -> list[str]:
    """Of a peer's addresses those that others can use."""
    return [address for address in addresses if of.address in address or "/2001:db8:" in address]


def give_ipv6(far: Host, home: Home) -> None:
    """Addresses for documentation (RFC 3849) to all of them; the home's router lets only answers in."""
    at_home, open_network = "2001:db8:1::", "2001:db8::"
    ip("-n", far.namespace, "address", "add", f"{open_network}1/64", "dev", INTERFACE, "nodad")
    ip("-n", far.namespace, "route", "add", f"{at_home}/64", "via", f"{open_network}2")
    ip("-n", home.router.namespace, "address", "add", f"{open_network}2/64", "dev", INTERFACE, "nodad")
    ip("-n", home.router.namespace, "address", "add", f"{at_home}1/64", "dev", INSIDE, "nodad")
    ip("-n", home.computer.namespace, "address", "add", f"{at_home}2/64", "dev", INTERFACE, "nodad")
    # Routers announce themselves by an address that counts on one interface.
    ip("-n", home.router.namespace, "address", "add", f"{ROUTER}/64", "dev", INSIDE, "nodad")
    ip("-n", home.computer.namespace, "route", "add", "default", "via", ROUTER, "dev", INTERFACE)
    for command in (
        "sysctl -q -w net.ipv6.conf.all.forwarding=1",
        "nft insert rule inet filter input meta l4proto ipv6-icmp accept",
    ):
        subprocess.run(home.router.command(*command.split()), check=True)
