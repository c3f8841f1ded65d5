"""Many keys of one address, or of many, cannot take the places of those who were there before."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import pytest
from hivemind import DHT
from hivemind.dht import DHTNode
from hivemind.p2p import P2P, PeerID
from hivemind.p2p.p2p_daemon_bindings.datastructures import PeerInfo

from core.swarm.dht import connection_limits
from core.swarm.dht.connection_limits import IN_ALL, PER_ADDRESS, ConnectionLimits, limit_connections
from core.swarm.dht.peer import join_swarm, own_addresses
from tests.swarm.installed import installed
from tests.waiting import wait_for


def peers(count: int) -> list[PeerID]:
    return [PeerID(os.urandom(34)) for _ in range(count)]


def test_of_one_address_who_came_last_goes_and_nobody_else() -> None:
    limits, honest, flood = ConnectionLimits(), peers(3), peers(PER_ADDRESS + 5)
    assert limits.too_many(dict.fromkeys(honest[:2], "192.0.2.1")) == []
    connected = dict.fromkeys([*flood, *honest], "192.0.2.1") | {honest[2]: "198.51.100.7"}
    gone = limits.too_many(connected)
    assert len(gone) == 5 + 2
    assert not set(gone) & set(honest)


def test_in_all_who_came_last_goes_also_if_it_comes_again() -> None:
    limits, honest, flood = ConnectionLimits(), peers(10), peers(IN_ALL)
    assert limits.too_many({peer: f"192.0.2.{number}" for number, peer in enumerate(honest)}) == []
    everybody = {peer: f"198.51.{number % 100}.{number // 100}" for number, peer in enumerate([*flood, *honest])}
    gone = limits.too_many(everybody)
    assert gone == flood[-10:]
    # An honest peer that was away for a moment keeps its place.
    limits.too_many({peer: address for peer, address in everybody.items() if peer != honest[0]})
    assert limits.too_many(everybody) == gone


@pytest.mark.parametrize("network", ["2001:db8:1:{}::", "198.51.100.{}"], ids=["one provider's IPv6", "IPv4"])
def test_who_took_all_places_from_few_networks_makes_room_for_who_comes_from_others(network: str) -> None:
    limits = ConnectionLimits()
    flood = {peer: network.format(number % (IN_ALL // PER_ADDRESS)) for number, peer in enumerate(peers(IN_ALL))}
    assert limits.too_many(flood) == []
    newcomers = {peer: f"2001:db8:{number + 10:x}:1::" for number, peer in enumerate(peers(100))}
    gone = limits.too_many(flood | newcomers)
    assert len(gone) == 100
    assert not set(gone) & newcomers.keys()


def test_whom_this_peer_has_called_itself_stays() -> None:
    own, flood = peers(PER_ADDRESS + 1), dict.fromkeys(peers(PER_ADDRESS), "192.0.2.1")
    limits = ConnectionLimits(in_all=0, own=own)
    gone = limits.too_many(flood | dict.fromkeys(own, "192.0.2.1"))
    assert set(gone) == flood.keys()


def test_new_keys_do_not_make_old_ones_forgotten() -> None:
    limits, honest = ConnectionLimits(), peers(1)
    limits.too_many({honest[0]: "192.0.2.1"})
    for _time in range(20):
        limits.too_many(dict.fromkeys(peers(1000), "198.51.100.7"))
    assert limits.too_many(dict.fromkeys([*peers(PER_ADDRESS), honest[0]], "192.0.2.1")) != honest


def test_peers_of_this_computer_do_not_count_by_address() -> None:
    assert ConnectionLimits().too_many(dict.fromkeys(peers(PER_ADDRESS + 5), "127.0.0.1")) == []


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


async def _connected(_dht: DHT, node: DHTNode) -> list[PeerID]:
    return [info.peer_id for info in await node.p2p.list_peers()]


FLOOD = """
import asyncio, sys
from hivemind.p2p import P2P
async def main():
    made = [await P2P.create(initial_peers=sys.argv[1:2], host_maddrs=["/ip4/127.0.0.9/tcp/0"], startup_timeout=60,
                             check_if_identity_free=False, auto_nat=False, nat_port_map=False) for _ in range(5)]
    print("there", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for p2p in made:
        await p2p.shutdown()
asyncio.run(main())
"""


@pytest.mark.parametrize("limit", ["of the address", "of the backbone"])
def test_daemons_of_one_address_that_come_after_a_member_are_disconnected(
    short_folder: Path, opened: ExitStack, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """Those that a peer has called itself are not."""
    if limit == "of the address":
        monkeypatch.setattr(connection_limits, "PER_ADDRESS", 2)
    opened.enter_context(installed(short_folder))

    def joined(name: str, *contact: str, most_connected: int | None = None) -> DHT:
        dht = join_swarm(contact, short_folder / name, "/ip4/127.0.0.9/tcp/0", most_connected=most_connected)
        opened.callback(dht.shutdown)
        return dht

    backbone = joined("backbone", most_connected=2 if limit == "of the backbone" else None)
    member = joined("member", own_addresses(backbone)[0], most_connected=0)
    flood = opened.enter_context(
        subprocess.Popen(
            [sys.executable, "-c", FLOOD, own_addresses(backbone)[0]],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
    )  # fmt: skip
    assert flood.stdout is not None
    assert flood.stdout.readline() == "there\n"
    seen, gone = set[PeerID](), set[PeerID]()

    def all_were_sent_away() -> bool:
        """They come again at once. One of them is the second that may be there."""
        connected = backbone.run_coroutine(_connected)
        assert member.peer_id in connected
        seen.update(connected)
        gone.update(seen.difference(connected))
        return len(gone) >= 4

    wait_for(all_were_sent_away, 60.0, every=0.1)


class _Daemon:
    """That fails at first, and cannot disconnect one of its peers."""

    def __init__(self, connected: list[PeerID]) -> None:
        self._client, self._connected, self._looks = self, connected, 0
        self.gone, self.done = list[PeerID](), asyncio.Event()

    async def list_peers(self) -> list[PeerInfo]:
        self._looks += 1
        if self._looks == 1:
            raise EOFError
        return [PeerInfo(peer, []) for peer in self._connected]

    async def disconnect(self, peer: PeerID) -> None:
        if peer == self._connected[0]:
            raise EOFError
        self.gone.append(peer)
        self.done.set()


def test_after_an_error_of_the_daemon_connections_are_limited_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "_EVERY", 0.01)
    connected = peers(2)
    daemon = _Daemon(connected)

    async def limit_until_one_is_gone() -> None:
        limiting = asyncio.create_task(limit_connections(cast("P2P", daemon), 0, ()))
        async with asyncio.timeout(10.0):
            await daemon.done.wait()
        limiting.cancel()

    asyncio.run(limit_until_one_is_gone())
    assert daemon.gone == connected[1:]
