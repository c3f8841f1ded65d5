"""How a group forms: all who are expected, without those who have vanished.

hivemind's groups begin when the time for them is over, without whoever was busy, and wait for that long for a peer that
is gone. Here a group begins as soon as all who reported lately have joined. The leader pings those who are missing, and
a member its leader: who falls silent is not waited for.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from hivemind.averaging.control import StepControl
from hivemind.averaging.group_info import GroupInfo
from hivemind.averaging.matchmaking import Matchmaking
from hivemind.p2p import P2P, PeerID

from core.swarm.connectivity.ping import until_silent

_INTERVAL = 0.5
"""Seconds between two looks at who is missing. Those who come on time are never pinged."""


class ExpectedGroup(Matchmaking):
    """In place of hivemind's, whose arguments it takes."""

    peer_id: PeerID
    _p2p: P2P
    current_leader: PeerID | None
    current_followers: dict[PeerID, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._largest_size: int | None = kwargs["target_group_size"]
        self._expected: dict[PeerID, float] | None = None
        self._lost: dict[PeerID, float] = {}
        self._met: set[PeerID] = set()
        """Peers to which there was a connection: of others that only call, nothing can be known."""
        self._groups: dict[StepControl, bytes] = {}
        """Those that were found and have not ended."""

    async def expect(self, reports: Mapping[bytes, float]) -> None:
        """Wait for these peers in this group and the next ones; `reports` has the time of each one's last report."""
        self._expected = {PeerID(peer): at for peer, at in reports.items()}
        # Who reports again has come back.
        self._lost = {peer: at for peer, at in self._lost.items() if self._expected.get(peer) == at}
        self._met &= self._expected.keys()
        await self._fit()

    async def leave_out(self, peers: Iterable[PeerID]) -> None:
        """Do not wait for these until they report again."""
        if self._expected is not None:
            self._lost |= {peer: self._expected[peer] for peer in peers if peer in self._expected}
            await self._fit()

    async def look_for_group(self, step: StepControl) -> GroupInfo | None:
        watch = asyncio.create_task(self._watch_missing())
        try:
            group = await super().look_for_group(step)
            if group is not None:
                self._groups[step] = group.group_id
            return group
        finally:
            watch.cancel()

    def end(self, step: StepControl) -> None:
        """The step is over, with its group or without."""
        self._groups.pop(step, None)

    def may_be_in(self, group_id: bytes) -> bool:
        """Whether the group is this peer's, or could be: the message of its leader may come after those of members."""
        is_asking = self.lock_request_join_group.locked() or self.current_leader is not None
        return is_asking or self.assembled_group.done() or group_id in self._groups.values()

    async def _request_join_group(self, leader: PeerID) -> GroupInfo | None:
        if leader in self._lost:
            return None
        request = asyncio.create_task(super()._request_join_group(leader))
        silence = asyncio.create_task(until_silent(self._p2p, leader))
        try:
            await asyncio.wait({request, silence}, return_when=asyncio.FIRST_COMPLETED)
            if request.done():
                return request.result()
            await self.leave_out([leader])
            return None
        finally:
            silence.cancel()
            request.cancel()
            await asyncio.gather(request, return_exceptions=True)

    async def _fit(self) -> None:
        if self._expected is None:
            return
        count = 1 + len(self._expected.keys() - self._lost.keys())
        self.target_group_size = min(max(count, self.min_group_size), self._largest_size or count)
        async with self.lock_request_join_group:
            is_leader = self.is_looking_for_group and self.current_leader is None
            members = len(self.current_followers) + 1
            if is_leader and members >= self.target_group_size and not self.assembled_group.done():
                await self.leader_assemble_group()

    async def _watch_missing(self) -> None:
        watches: dict[PeerID, asyncio.Task[None]] = {}
        try:
            while True:
                await asyncio.sleep(_INTERVAL)
                missing = await self._missing()
                for peer in watches.keys() - missing:
                    watches.pop(peer).cancel()
                for peer in missing - watches.keys():
                    watches[peer] = asyncio.create_task(self._leave_out_if_silent(peer))
        finally:
            for watch in watches.values():
                watch.cancel()

    async def _leave_out_if_silent(self, peer: PeerID) -> None:
        await until_silent(self._p2p, peer)
        await self.leave_out([peer])

    async def _missing(self) -> set[PeerID]:
        """Of those that this peer, as the leader, waits for and knows."""
        if self._expected is None or self.current_leader is not None:
            return set()
        self._met |= self._expected.keys() & {peer.peer_id for peer in await self._p2p.list_peers()}
        return self._met - self._lost.keys() - self.current_followers.keys()
