"""hivemind's node of the DHT, made to ask few others, and to be connected to so many at most.

hivemind asks up to twenty nodes about a key, and each node answers with everything that it stores there. It does the
same before each store, only to find the nodes that will keep the record. Eight volunteers cost every peer 91 kB/s.
"""

import asyncio
from collections.abc import Collection, Mapping
from typing import Any

from hivemind.dht.node import DHTNode
from hivemind.dht.routing import DHTID

from core.swarm.dht.connection_limits import limit_connections

REPLICAS = 3
"""Nodes that keep a record, and that are asked for it: one of them may be gone, and another have missed a store. Each
costs two calls a store; hivemind has five."""


class SparingNode(DHTNode):
    """In place of hivemind's."""

    _limiting: "asyncio.Task[None]"

    @classmethod
    async def create(cls, *args: Any, **kwargs: Any) -> "SparingNode":
        node: SparingNode = await super().create(*args, **kwargs)
        node._limiting = asyncio.create_task(limit_connections(node.p2p))
        return node

    async def shutdown(self) -> None:
        self._limiting.cancel()
        await super().shutdown()

    async def get_many_by_id(self, *args: Any, beam_size: int = REPLICAS, **kwargs: Any) -> Mapping[DHTID, Any]:
        found: Mapping[DHTID, Any] = await super().get_many_by_id(*args, beam_size=beam_size, **kwargs)
        return found

    async def store_many(self, *args: Any, **kwargs: Any) -> Mapping[Any, bool]:
        stored: Mapping[Any, bool] = await super().store_many(*args, beam_size=self.num_replicas, **kwargs)
        return stored

    async def find_nearest_nodes(
        self, queries: Collection[DHTID], *args: Any, found_callback: Any = None, **kwargs: Any
    ) -> dict[DHTID, Any]:
        """As hivemind's, but asks for the sibling of each key. It has the same neighbours and no records, which every
        node would send along."""
        siblings = {_sibling(query): query for query in queries}

        async def on_found(sibling: DHTID, *found: Any) -> None:
            await found_callback(siblings[sibling], *found)

        if found_callback is not None:
            kwargs["found_callback"] = on_found
        nearest = await super().find_nearest_nodes(list(siblings), *args, **kwargs)
        return {siblings[sibling]: nodes for sibling, nodes in nearest.items()}


def _sibling(key: DHTID) -> DHTID:
    """The key that differs in the last bit."""
    return DHTID(int(key) ^ 1)
