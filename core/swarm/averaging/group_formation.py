"""How a group forms: all who are expected, without those who have vanished.

hivemind's groups begin when the time for them is over, without whoever was busy, and wait for that long for a peer that
is gone. Here a group begins as soon as all who reported lately have joined. The leader pings those who are missing, and
a member its leader: who falls silent is not waited for.

Who is refused is taken into no group that this peer leads, and no group that it leads is joined. In the group of
another leader, who has not seen what this peer has, only its parts are not taken: without this peer that whole round
would fail, and one who is kind to a leader could part the others.

Where one group cannot hold all that are expected, they form as few as can, all of the same size, and each backbone has
a group of its own: two in one would leave peers without a group that nobody can call. If there are fewer peers that can
lead one, groups are larger than the project asks for: to be in none costs more.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from hivemind import DHT
from hivemind.averaging.control import StepControl
from hivemind.averaging.group_info import GroupInfo
from hivemind.averaging.matchmaking import Matchmaking, MatchmakingException
from hivemind.dht.node import DHTNode
from hivemind.p2p import P2P, P2PContext, PeerID
from hivemind.proto import averaging_pb2

from core.swarm.connectivity.ping import SEARCH_INTERVAL, SILENCE, until_silent
from core.swarm.dht.addresses import PeerAddresses
from core.swarm.trust.admission import admits
from core.swarm.trust.claims import as_counted, is_sound, is_whole
from core.swarm.trust.distrust import Offence

_INTERVAL = 0.5
"""Seconds between two looks at who is missing. Those who come on time are never pinged."""
_COMES_LATE = 2.0
"""Seconds for which one of several groups waits for its last member: another group may have it."""
_ALONE = SEARCH_INTERVAL + SILENCE
"""Seconds of a search in which this peer pings those who are missing, to know who has vanished. Then it pings nobody
until a member has joined, which would wait for them: of many peers that search in vain, each would ping all others."""


@dataclass(frozen=True)
class Expected:
    """Who may be in the next groups."""

    reports: Mapping[bytes, float] = field(default_factory=dict)
    """The other peers, and the time of each one's last report."""
    leaders: Collection[bytes] | None = None
    """Those of them that others can call, with whom as few groups as can form; None: each can lead one."""
    apart_from: Collection[bytes] = ()
    """Whose groups are not joined where one cannot hold all."""


def count_of_groups(peers: int, leaders: int, size: int) -> int:
    """Groups that so many peers form, of `size` at most unless they have too few `leaders`."""
    return max(1, min(-(-peers // size), leaders))


async def _avoid(_dht: DHT, node: DHTNode, peers: Collection[PeerID]) -> None:
    """Runs in the DHT's process. Each lookup would wait three seconds for them until it knows."""
    for peer in peers:
        node.blacklist.register_failure(peer)


class BrokenGroup(MatchmakingException):
    """What a leader sent is no group."""


class ExpectedGroup(Matchmaking):
    """In place of hivemind's, whose arguments it takes."""

    peer_id: PeerID
    _p2p: P2P
    current_leader: PeerID | None
    current_followers: dict[PeerID, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._fits: Callable[[Any, Any], bool] = kwargs["servicer_type"].fits
        self._refused: frozenset[PeerID] = frozenset()
        self._accuse: Callable[[PeerID, Offence], None] = lambda _peer, _offence: None
        self._proven: Collection[bytes] | None = None
        self._addresses, self._address_of = PeerAddresses(), dict[PeerID, str]()
        self._leaving_out: asyncio.Task[None] | None = None
        self._largest_size: int | None = kwargs["target_group_size"]
        self._most: int | None = None
        self._expected: dict[PeerID, float] | None = None
        self._leaders: frozenset[PeerID] | None = None
        self._apart_from: frozenset[PeerID] = frozenset()
        self._lost: dict[PeerID, float] = {}
        self._met: set[PeerID] = set()
        """Peers to which there was a connection: of others that only call, nothing can be known."""
        self._groups: dict[StepControl, bytes] = {}
        """Those that were found and have not ended."""

    async def expect(self, expected: Expected, most: int | None) -> None:
        """Wait for these peers in this group and the next ones; `most` are in one that this peer leads."""
        self._most, self._apart_from = most, frozenset(map(PeerID, expected.apart_from))
        self._leaders = None if expected.leaders is None else frozenset(map(PeerID, expected.leaders))
        self._expected = {PeerID(peer): at for peer, at in expected.reports.items()}
        # Who reports again has come back.
        self._lost = {peer: at for peer, at in self._lost.items() if self._expected.get(peer) == at}
        self._met &= self._expected.keys()
        await self._fit()

    def refuse(
        self,
        peers: frozenset[PeerID],
        accuse: Callable[[PeerID, Offence], None],
        proven: Collection[bytes] | None = None,
    ) -> None:
        """Take these into no group; `accuse` is called with who sends a malformed claim. For `proven`, see
        `core.swarm.trust.admission`."""
        self._refused, self._accuse, self._proven = peers, accuse, proven

    async def leave_out(self, peers: Iterable[PeerID]) -> None:
        """Do not wait for these until they report again."""
        if self._expected is not None:
            self._lost |= {peer: self._expected[peer] for peer in peers if peer in self._expected}
            await self._fit()

    async def lose(self, peers: Collection[PeerID]) -> None:
        """These have fallen silent: they are not waited for, also where the DHT is asked for those that look for a
        group."""
        await self.leave_out(peers)
        self.group_key_manager.dht.run_coroutine(partial(_avoid, peers=tuple(peers)), return_future=True)

    async def look_for_group(self, step: StepControl) -> GroupInfo | None:
        watch = asyncio.create_task(self._watch_missing())
        try:
            group = await super().look_for_group(step)
            if group is None:
                return None
            group = as_counted(group)
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
        if leader in self._lost or leader in self._refused or (leader in self._apart_from and self._is_crowded):
            return None
        request = asyncio.create_task(super()._request_join_group(leader))
        silence = asyncio.create_task(until_silent(self._p2p, leader, interval=SEARCH_INTERVAL))
        try:
            await asyncio.wait({request, silence}, return_when=asyncio.FIRST_COMPLETED)
            if not request.done():
                await self.lose([leader])
                return None
            return request.result()
        except BrokenGroup:
            await self.leave_out([leader])
            return None
        finally:
            silence.cancel()
            request.cancel()
            await asyncio.gather(request, return_exceptions=True)

    async def rpc_join_group(
        self, request: averaging_pb2.JoinRequest, context: P2PContext
    ) -> AsyncIterator[averaging_pb2.MessageFromLeader]:
        """See hivemind, which takes whoever comes."""
        peer = context.remote_id
        self._address_of[peer] = await self._addresses.of(self._p2p, peer)
        try:
            async for message in super().rpc_join_group(request, context):
                yield message
        finally:
            self._address_of.pop(peer, None)

    def _has_place_for(self, peer: PeerID) -> bool:
        members = {member.to_bytes(): self._address_of.get(member, "") for member in self.current_followers}
        places = self.target_group_size if self._count > (self.target_group_size or self._count) else None
        return admits(peer.to_bytes(), self._address_of.get(peer, ""), members, self._proven, places)

    def _check_reasons_to_reject(
        self, request: averaging_pb2.JoinRequest, context: P2PContext
    ) -> averaging_pb2.MessageFromLeader | None:
        reason: averaging_pb2.MessageFromLeader | None = super()._check_reasons_to_reject(request, context)
        peer = context.remote_id
        if reason is None and not self._has_place_for(peer):
            self._leaving_out = asyncio.create_task(self.leave_out([peer]))
            return averaging_pb2.MessageFromLeader(code=averaging_pb2.GROUP_IS_FULL)
        if reason is None and peer not in self._refused:
            if self._is_sound(request.gather):
                return None
            self._accuse(peer, "claim_malformed")
            self._leaving_out = asyncio.create_task(self.leave_out([peer]))
        return reason or averaging_pb2.MessageFromLeader(code=averaging_pb2.PROTOCOL_VIOLATION)

    async def follower_assemble_group(self, leader: PeerID, msg: averaging_pb2.MessageFromLeader) -> GroupInfo:
        """See hivemind, which believes the leader. The next one is asked instead of one that sends a broken group."""
        group = GroupInfo(msg.group_id, tuple(map(PeerID, msg.ordered_peer_ids)), tuple(msg.gathered))
        own = self.step_control.data_for_gather
        if not (is_whole(group, leader, self.peer_id, own) and all(map(self._is_sound, group.gathered))):
            self._accuse(leader, "claim_malformed")
            raise BrokenGroup
        return await super().follower_assemble_group(leader, msg)

    def _is_sound(self, claim: bytes) -> bool:
        return is_sound(claim, self.step_control.data_for_gather, self._fits)

    @property
    def _count(self) -> int:
        """Of those who could be in a group."""
        return 1 + len((self._expected or {}).keys() - self._lost.keys())

    @property
    def _groups_of_all(self) -> int:
        count = self._count
        if self._leaders is None:
            return count_of_groups(count, count, self._largest_size or count)
        there = (self._leaders & (self._expected or {}).keys()) - self._lost.keys()
        return count_of_groups(count, len(there) + (not self.client_mode), self._largest_size or count)

    @property
    def _is_crowded(self) -> bool:
        return self._groups_of_all > 1

    async def _fit(self) -> None:
        if self._expected is None:
            return
        size = max(self.min_group_size, -(-self._count // self._groups_of_all))
        self.target_group_size = min(size, self._most or size)
        await self._begin_with(self.target_group_size)

    async def _begin_with(self, members: int) -> None:
        """Begin with the group that this peer leads, if it has so many members."""
        async with self.lock_request_join_group:
            is_leader = self.is_looking_for_group and self.current_leader is None
            if is_leader and len(self.current_followers) + 1 >= members and not self.assembled_group.done():
                await self.leader_assemble_group()

    async def _watch_missing(self) -> None:
        watches: dict[PeerID, asyncio.Task[None]] = {}
        looked = asyncio.get_running_loop().time
        members, joined = 0, (began := looked())
        try:
            while True:
                await asyncio.sleep(_INTERVAL)
                if members != (members := len(self.current_followers)):
                    joined = looked()
                elif self._is_crowded and looked() > joined + _COMES_LATE:
                    await self._begin_with(max(self.min_group_size, self.target_group_size - 1))
                missing = await self._missing() if members or looked() < began + _ALONE else set()
                for peer in watches.keys() - missing:
                    watches.pop(peer).cancel()
                for peer in missing - watches.keys():
                    watches[peer] = asyncio.create_task(self._leave_out_if_silent(peer))
        finally:
            for watch in watches.values():
                watch.cancel()

    async def _leave_out_if_silent(self, peer: PeerID) -> None:
        await until_silent(self._p2p, peer, interval=SEARCH_INTERVAL)
        await self.lose([peer])

    async def _missing(self) -> set[PeerID]:
        """Of those that this peer, as the leader, waits for and knows."""
        if self._expected is None or self.current_leader is not None:
            return set()
        self._met |= self._expected.keys() & {peer.peer_id for peer in await self._p2p.list_peers()}
        return self._met - self._lost.keys() - self.current_followers.keys()
