"""How a peer that looks for a group announces itself in the DHT, and how often it asks who else did.

hivemind searches the whole DHT, and again as soon as it has an answer: some 600 requests a second on a quiet machine,
which is most of a slow link. Nobody needs to hear of others so soon: a group begins `matchmaking_time` after its leader
has announced itself, and a peer that announces itself later asks to join.
"""

import asyncio
import math
import time
from contextlib import suppress
from typing import Any

from hivemind.averaging.group_info import GroupInfo
from hivemind.averaging.key_manager import GroupKeyManager
from hivemind.p2p import PeerID
from hivemind.utils import ValueWithExpiration, get_dht_time

from core.swarm.dht.node import ASKED
from core.swarm.dht.records import announced_peer, own_subkey

FIRST_INTERVAL = 0.75
"""Seconds from the first lookup of a search to the second, which finds those who began at the same moment."""
_LONGEST_INTERVAL = 6.0
"""Between later ones, each time twice as long: who comes now asks this peer. Not where nobody can call it."""
_WITHDRAWN_WITHIN = 0.5
"""Seconds for which the group that was found waits for that: if a node has vanished it would be three."""
_WORTH_WITHDRAWING = 0.5
"""Seconds that an announcement must last, so that others would ask this peer for nothing."""


class PacedKeyManager(GroupKeyManager):
    """In place of hivemind's, whose arguments it takes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._interval, self._next_lookup = FIRST_INTERVAL, 0.0

    async def declare_averager(
        self, group_key: str, peer_id: PeerID, expiration_time: float, looking_for_group: bool = True
    ) -> bool:
        """Announce this peer, or withdraw the announcement as the search is over."""
        if not looking_for_group:
            self._interval, self._next_lookup = FIRST_INTERVAL, 0.0
            if expiration_time < get_dht_time() + _WORTH_WITHDRAWING:
                return True
            # A record is replaced by one that expires later.
            expiration_time = math.nextafter(expiration_time, math.inf)
        stored = self.dht.store(
            group_key, looking_for_group, expiration_time, subkey=own_subkey(peer_id), return_future=True
        )
        if looking_for_group:
            return bool(await stored)
        with suppress(TimeoutError):
            async with asyncio.timeout(_WITHDRAWN_WITHIN):
                await asyncio.shield(asyncio.wrap_future(stored))
        return True

    async def update_key_on_group_assembled(self, group_info: GroupInfo) -> None:
        """All look under one key: hivemind's change of it fails where a group is larger than its target size."""

    async def get_averagers(self, group_key: str, only_active: bool) -> list[tuple[PeerID, float]]:
        """Peers announced under the key and when each begins its group, as soon as it is time to ask again."""
        await asyncio.sleep(self._next_lookup - time.monotonic())
        self._next_lookup = time.monotonic() + self._interval
        if not self.dht.client_mode:
            self._interval = min(_LONGEST_INTERVAL, 2 * self._interval)
        # Also where this peer keeps them: the other one has its own announcement before it comes here.
        found = await self.dht.get(group_key, latest=True, beam_size=ASKED, return_future=True)
        announced = found.value if isinstance(found, ValueWithExpiration) else None
        begins = dict[PeerID, float]()
        for subkey, entry in announced.items() if isinstance(announced, dict) else ():
            peer = announced_peer(subkey)
            if peer is not None and isinstance(entry, ValueWithExpiration) and (entry.value or not only_active):
                # The earliest of several: a liar can make the others ask too soon, not too late.
                begins[peer] = min(entry.expiration_time, begins.get(peer, math.inf))
        return list(begins.items())
