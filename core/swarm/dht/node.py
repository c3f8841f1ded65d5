"""hivemind's node of the DHT, made to ask few others, and to be connected to so many at most.

hivemind asks up to twenty nodes about a key, and each node answers with everything that it stores there. It does the
same before each store, only to find the nodes that will keep the record. Eight volunteers cost every peer 91 kB/s.
"""

import asyncio
import time
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from hivemind.dht.node import DHTNode
from hivemind.dht.routing import DHTID
from hivemind.p2p import PeerID
from hivemind.utils import TimedStorage, get_dht_time

from core.swarm.dht.addresses import peer_id_of
from core.swarm.dht.connection_limits import IN_ALL, limit_connections

REPLICAS = 3
"""Nodes that keep a record: one of them may be gone, and another have missed a store. Each costs two calls a store;
hivemind has five."""
ASKED = 2
"""Nodes that are asked for it, those nearest to its key. One that has just come there may not have it yet."""


_REMEMBERED = 60.0
"""Seconds for which a node knows where to store under a key: a peer reports every few seconds, and half of the calls
would only ask that again. Whoever comes meanwhile is told what is stored by those who meet it."""


_ENDED_ONCE_IN = 60.0
"""Seconds in which a suspension ends once at most before its time."""


class _Nearest(NamedTuple):
    nodes: dict[DHTID, PeerID]
    until: float
    """By the steady clock."""


class SparingNode(DHTNode):
    """In place of hivemind's."""

    _limiting: "asyncio.Task[None]"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._found: dict[DHTID, _Nearest] = {}
        self._heard: dict[PeerID, float] = {}
        """When a message last came from each of the peers that it joined by, by the steady clock."""
        self._lost_until = float("-inf")
        """Until then a node that did not answer, and is in no table here, may be back, by the steady clock."""

    @classmethod
    async def create(cls, *args: Any, most_connected: int = IN_ALL, **kwargs: Any) -> "SparingNode":
        node: SparingNode = await super().create(*args, **kwargs)
        own = [peer_id_of(str(address)) for address in kwargs.get("initial_peers") or ()]
        node._limiting = asyncio.create_task(limit_connections(node.p2p, most_connected, own))
        node._note_messages_of(frozenset(own))
        node._end_suspensions()
        return node

    def has_heard(self, peer: PeerID, seconds: float) -> bool:
        """Whether the peer, one of those that this node joined by, has answered or asked it within so many seconds, and
        failed to answer nothing since."""
        return time.monotonic() < self._heard.get(peer, float("-inf")) + seconds

    def _note_messages_of(self, peers: Collection[PeerID]) -> None:
        update = self.protocol.update_routing_table

        async def noting(node_id: DHTID | None, peer: PeerID, responded: bool = True) -> None:
            if responded and peer in peers:
                self._heard[peer] = time.monotonic()
            elif not responded:
                self._heard.pop(peer, None)
                self._lost_until = time.monotonic() + _REMEMBERED
            await update(node_id, peer, responded)

        # hivemind calls it for each request, of others and to others.
        self.protocol.update_routing_table = noting

    def _end_suspensions(self) -> None:
        """Ask a node again that has given no answer, as soon as it takes a record: hivemind asks none for half a minute
        and longer each time. Two peers that a busy moment had suspended here would not find each other. Once in a
        while: each search waits for a node that takes records and answers nothing else."""
        store, ended = self.protocol.call_store, TimedStorage[PeerID, bool]()

        async def noting(peer: PeerID, *args: Any, **kwargs: Any) -> Any:
            stored = await store(peer, *args, **kwargs)
            if stored is not None and peer in self.blacklist and peer not in ended:
                ended.store(peer, True, get_dht_time() + _ENDED_ONCE_IN)
                self.blacklist.register_success(peer)
            return stored

        self.protocol.call_store = noting

    async def shutdown(self) -> None:
        self._limiting.cancel()
        await super().shutdown()

    async def get_many_by_id(
        self, key_ids: Collection[DHTID], *args: Any, beam_size: int | None = None, **kwargs: Any
    ) -> Mapping[DHTID, Any]:
        """See hivemind. `beam_size` is how many other nodes are asked at least."""
        looked_at = (self._asked(key, beam_size or ASKED - self._keeps(key)) for key in key_ids)
        beam_size = max(looked_at, default=ASKED)
        found: Mapping[DHTID, Any] = await super().get_many_by_id(key_ids, *args, beam_size=beam_size, **kwargs)
        return found

    def _asked(self, key: DHTID, wanted: int) -> int:
        """How many of the nearest nodes to look at, to ask so many: those that are suspended are not called."""
        looked_at = 0
        for _node, peer in self.protocol.routing_table.get_nearest_neighbors(
            key, self.protocol.bucket_size, exclude=self.node_id
        ):
            if not wanted:
                break
            looked_at, wanted = looked_at + 1, wanted - (peer not in self.blacklist)
        return looked_at + wanted

    def _keeps(self, key: DHTID) -> bool:
        """Whether this node is one of those that are sent what is stored under a key, so that it need ask one other
        less. Not one that has just come, or that may have been away itself."""
        if self.protocol.client_mode or self.protocol.storage.get(key) is None or time.monotonic() < self._lost_until:
            return False
        nearest = self.protocol.routing_table.get_nearest_neighbors(key, REPLICAS, exclude=self.node_id)
        own = self.node_id.xor_distance(key)
        return bool(sum(node.xor_distance(key) < own for node, _peer in nearest) < REPLICAS)

    async def store_many(self, *args: Any, **kwargs: Any) -> Mapping[Any, bool]:
        stored: Mapping[Any, bool] = await super().store_many(*args, beam_size=self.num_replicas, **kwargs)
        return stored

    async def find_nearest_nodes(
        self,
        queries: Collection[DHTID],
        *args: Any,
        node_to_peer_id: dict[DHTID, PeerID] | None = None,
        found_callback: Any = None,
        **kwargs: Any,
    ) -> dict[DHTID, Any]:
        """As hivemind's, but asks for the sibling of each key. It has the same neighbours and no records, which every
        node would send along. Where to store, which has a callback, is remembered for a while."""
        siblings = {_sibling(query): query for query in queries}
        if found_callback is None or node_to_peer_id is None:
            kwargs |= {"node_to_peer_id": node_to_peer_id}
        else:
            peers = node_to_peer_id
            for query in queries:
                if (remembered := self._remembered(query)) is not None:
                    del siblings[_sibling(query)]
                    peers.update(remembered)
                    await found_callback(query, list(remembered), set())

            async def on_found(sibling: DHTID, nearest: list[DHTID], visited: set[DHTID]) -> None:
                self._remember(siblings[sibling], {node: peers[node] for node in nearest})
                await found_callback(siblings[sibling], nearest, visited)

            kwargs |= {"node_to_peer_id": peers, "found_callback": on_found}
        nearest = await super().find_nearest_nodes(list(siblings), *args, **kwargs) if siblings else {}
        return {siblings[sibling]: nodes for sibling, nodes in nearest.items()}

    def _remember(self, key: DHTID, nodes: dict[DHTID, PeerID]) -> None:
        now = time.monotonic()
        self._found = {known: found for known, found in self._found.items() if now < found.until}
        self._found[key] = _Nearest(nodes, now + _REMEMBERED)

    def _remembered(self, key: DHTID) -> dict[DHTID, PeerID] | None:
        """The nodes nearest to a key, if this node knows all, or has met no nearer one since and lost none of them."""
        met = dict(self.protocol.routing_table.get_nearest_neighbors(key, REPLICAS, exclude=self.node_id))
        if self._knows_all and len(met) == REPLICAS:
            return met
        found = self._found.get(key)
        if found is None or time.monotonic() > found.until:
            return None
        # Few were found by who had lost the others: it may have met them again.
        return found.nodes if met and met.keys() == found.nodes.keys() else None

    @property
    def _knows_all(self) -> bool:
        """Whether all nodes of the swarm are in this one's table: whoever comes looks for its own neighbours, and asks
        all if they are so few. Nobody looks for one that only calls others, nor soon for one that was lost here."""
        protocol = self.protocol
        if time.monotonic() < self._lost_until:
            return False
        return not protocol.client_mode and len(protocol.routing_table.peer_id_to_uid) < protocol.bucket_size


def _sibling(key: DHTID) -> DHTID:
    """The key that differs in the last bit."""
    return DHTID(int(key) ^ 1)
