"""How many nodes of the DHT a peer asks, and what they send it. Seven real peers on loopback."""

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hivemind import DHT
from hivemind.dht.node import DHTNode
from hivemind.dht.protocol import DHTProtocol
from hivemind.dht.routing import DHTID
from hivemind.p2p import PeerID
from hivemind.utils import ValueWithExpiration, get_dht_time

from core.swarm.dht.node import ASKED, REPLICAS
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.traffic.link import Link
from tests.swarm.installed import installed

KEY = "run_records"
RECORD = bytes(10_000)
STORED = 8 * len(RECORD)
"""Bytes under the key."""


class Peers:
    def __init__(self, folder: Path, link: Link) -> None:
        self._link = link
        self.dhts = [join_swarm([], folder / "0.key")]
        self._folder = folder
        for number in range(1, 7):
            self.join(f"{number}")

    def join(self, name: str) -> DHT:
        self.dhts.append(join_swarm(own_addresses(self.dhts[0]), self._folder / f"{name}.key"))
        return self.dhts[-1]

    def join_to_call(self) -> DHT:
        """One that nobody can call."""
        self.dhts.append(join_swarm(own_addresses(self.dhts[0]), self._folder / "caller.key", None))
        return self.dhts[-1]

    def store(self, by: DHT, subkey: bytes, value: bytes) -> None:
        assert by.store(KEY, value, get_dht_time() + 60.0, subkey=subkey)

    def sent(self) -> int:
        """Bytes of calls of the DHT, by all of them together."""
        up, _down = self._link.meter.by_kind()["dht"]
        return up


@pytest.fixture
def peers(short_folder: Path) -> Iterator[Peers]:
    with installed(short_folder) as link:
        made = Peers(short_folder, link)
        for number in range(8):
            made.store(made.dhts[0], b"%d" % number, RECORD)
        yield made
        for dht in made.dhts:
            dht.shutdown()


async def _kept(_dht: DHT, node: DHTNode) -> bool:
    return node.protocol.storage.get(DHTID.generate(KEY)) is not None


async def _distance(_dht: DHT, node: DHTNode) -> int:
    return int(node.node_id.xor_distance(DHTID.generate(KEY)))


async def _subkeys(_dht: DHT, node: DHTNode) -> set[object]:
    found = node.protocol.storage.get(DHTID.generate(KEY))
    return set(found.value.data) if found is not None else set()


def ask(dht: DHT, question: Any) -> Any:
    return dht.run_coroutine(question)


def test_a_record_is_kept_by_the_nodes_nearest_to_its_key(peers: Peers) -> None:
    nearest = sorted(peers.dhts, key=lambda dht: ask(dht, _distance))
    assert [ask(dht, _kept) for dht in nearest] == [True] * REPLICAS + [False] * (len(nearest) - REPLICAS)


def test_nothing_that_is_stored_under_a_key_is_sent_to_one_that_stores_there(peers: Peers) -> None:
    before = peers.sent()
    peers.store(peers.dhts[3], b"small", b"1")
    assert peers.sent() - before < STORED / 2


@pytest.mark.parametrize("keeps", [False, True])
def test_a_key_is_asked_for_from_its_nearest_nodes_only_and_from_one_less_by_who_is_one(
    peers: Peers, keeps: bool
) -> None:
    asking = (min if keeps else max)(peers.dhts, key=lambda dht: ask(dht, _distance))
    before = peers.sent()
    found = asking.get(KEY, latest=True)
    assert isinstance(found, ValueWithExpiration)
    assert len(found.value) == 8
    asked = ASKED - keeps
    assert asked * STORED <= peers.sent() - before < (asked + 0.5) * STORED


async def _lose_one(_dht: DHT, node: DHTNode) -> None:
    """As one that missed a store."""
    found = node.protocol.storage.get(DHTID.generate(KEY))
    assert found is not None
    del found.value[b"7"]


def test_who_has_missed_a_store_is_told_of_it(peers: Peers) -> None:
    nearest = min(peers.dhts, key=lambda dht: ask(dht, _distance))
    ask(nearest, _lose_one)
    assert len(ask(nearest, _subkeys)) == 7
    found = nearest.get(KEY, latest=True)
    assert isinstance(found, ValueWithExpiration)
    assert len(found.value) == 8


def test_who_had_no_answer_from_one_asks_two_again(peers: Peers) -> None:
    nearest, *_others, lost = sorted(peers.dhts, key=lambda dht: ask(dht, _distance))
    ask(nearest, partial(_get_no_answer, peer=lost.peer_id))
    before = peers.sent()
    assert nearest.get(KEY, latest=True) is not None
    assert peers.sent() - before > (ASKED - 0.5) * STORED


async def _suspend(_dht: DHT, node: DHTNode, peers: list[PeerID]) -> None:
    for peer in peers:
        node.blacklist.register_failure(peer)


def test_the_next_nodes_are_asked_in_place_of_those_that_are_suspended(peers: Peers) -> None:
    *nearest, farthest = sorted(peers.dhts, key=lambda dht: ask(dht, _distance))
    ask(farthest, partial(_suspend, peers=[dht.peer_id for dht in nearest[:ASKED]]))
    found = farthest.get(KEY, latest=True)
    assert isinstance(found, ValueWithExpiration)
    assert len(found.value) == 8


def test_a_suspended_node_is_asked_again_once_it_has_taken_a_record(peers: Peers) -> None:
    *nearest, farthest = sorted(peers.dhts, key=lambda dht: ask(dht, _distance))
    ask(farthest, partial(_suspend, peers=[dht.peer_id for dht in nearest]))
    assert farthest.get(KEY, latest=True) is None
    peers.store(farthest, b"small", b"1")
    found = farthest.get(KEY, latest=True)
    assert isinstance(found, ValueWithExpiration)
    assert len(found.value) == 9


def test_a_node_that_takes_records_and_answers_no_search_is_not_asked_in_vain_again_and_again(
    peers: Peers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def rpc_find(_self: DHTProtocol, _request: Any, _context: Any) -> None:
        await asyncio.sleep(60.0)

    with monkeypatch.context() as changed:
        changed.setattr(DHTProtocol, "rpc_find", rpc_find)
        hostile = peers.join("hostile")
    victim, asked = peers.dhts[1], []
    for number in range(4):
        asked.append(ask(victim, partial(_search, peer=hostile.peer_id)))
        assert ask(victim, partial(_store_at, peer=hostile.peer_id, number=number))
    assert asked == [True, True, False, False]


async def _search(_dht: DHT, node: DHTNode, peer: PeerID) -> bool:
    """Whether it is asked, as hivemind does: in vain."""
    if peer in node.blacklist:
        return False
    assert await node.protocol.call_find(peer, [DHTID.generate(KEY)]) is None
    node.blacklist.register_failure(peer)
    return True


async def _store_at(_dht: DHT, node: DHTNode, peer: PeerID, number: int) -> bool:
    value, lasts = node.protocol.serializer.dumps(number), get_dht_time() + 60.0 + number
    stored = await node.protocol.call_store(peer, [DHTID.generate(KEY)], [value], lasts, subkeys=[b"1"])
    return stored is not None


def test_where_to_store_is_not_asked_again(peers: Peers) -> None:
    caller = peers.join_to_call()
    before = peers.sent()
    peers.store(caller, b"small", b"1")
    first = peers.sent()
    peers.store(caller, b"small", b"2")
    again = peers.sent()
    assert again - first < 0.8 * (first - before)
    peers.store(peers.dhts[3], b"small", b"3")
    assert peers.sent() - again < 0.8 * (first - before), "one that knows all asks nobody"


async def _lose_neighbours(_dht: DHT, node: DHTNode) -> list[tuple[DHTID, PeerID]]:
    """As after a while without a network."""
    table = node.protocol.routing_table
    lost = [(node_id, peer) for peer, node_id in table.peer_id_to_uid.items()]
    for node_id, _peer in lost:
        del table[node_id]
    return lost


async def _meet(_dht: DHT, node: DHTNode, others: list[tuple[DHTID, PeerID]]) -> None:
    for node_id, peer in others:
        node.protocol.routing_table.add_or_update_node(node_id, peer)


def test_who_had_lost_all_others_stores_where_it_meets_them_again(peers: Peers) -> None:
    farthest = max(peers.dhts, key=lambda dht: ask(dht, _distance))
    lost = ask(farthest, _lose_neighbours)
    farthest.store(KEY, b"0", get_dht_time() + 60.0, subkey=b"alone")
    ask(farthest, partial(_meet, others=lost))
    peers.store(farthest, b"again", b"1")
    nearest = sorted(peers.dhts, key=lambda dht: ask(dht, _distance))[:REPLICAS]
    assert all(b"again" in ask(dht, _subkeys) for dht in nearest)


async def _get_no_answer(_dht: DHT, node: DHTNode, peer: PeerID) -> None:
    await node.protocol.update_routing_table(None, peer, responded=False)


def test_one_that_failed_to_answer_once_keeps_what_is_stored_from_then_on(peers: Peers) -> None:
    *_others, farthest = nearest = sorted(peers.dhts, key=lambda dht: ask(dht, _distance))
    ask(farthest, partial(_get_no_answer, peer=nearest[0].peer_id))
    peers.store(farthest, b"again", b"1")
    assert all(b"again" in ask(dht, _subkeys) for dht in nearest[:REPLICAS])


def test_who_comes_nearer_to_a_key_keeps_what_is_stored_from_then_on(peers: Peers) -> None:
    first, late = peers.dhts[0], list[DHT]()
    while not late or not is_among_nearest(late[-1], peers.dhts):
        late.append(peers.join(f"late-{len(late)}"))
    peers.store(first, b"new", b"1")
    nearest = sorted(peers.dhts, key=lambda dht: ask(dht, _distance))[:REPLICAS]
    assert all(b"new" in ask(dht, _subkeys) for dht in nearest)


def is_among_nearest(dht: DHT, all_of_them: list[DHT]) -> bool:
    return dht in sorted(all_of_them, key=lambda each: ask(each, _distance))[:REPLICAS]
