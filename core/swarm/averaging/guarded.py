"""An averager that watches who breaks its rounds, and takes nobody into a group who did."""

import asyncio
import multiprocessing
import threading
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from hivemind.averaging import DecentralizedAverager
from hivemind.averaging.group_info import GroupInfo
from hivemind.p2p import P2PContext, PeerID
from hivemind.utils import get_dht_time

from core.swarm.all_reduce.runner import AtomicAllReduce, MembersLost
from core.swarm.averaging.group_formation import Expected, ExpectedGroup
from core.swarm.connectivity.ping import answers
from core.swarm.dht.progress.weight_limits import WeightLimits
from core.swarm.trust.distrust import Distrust, Offence
from core.swarm.trust.quorum import Influence

_LONGEST_FAREWELL = 1.0
"""Seconds for which a peer that leaves goes on to send what it averaged for others."""
_MOST_REPORTS = 64
"""Between two looks of the other process; more would fill the pipe."""


class GuardedAverager(DecentralizedAverager):
    """Reports to `distrust`, and leaves out whom that names.

    Parameters beside hivemind's own:
        distrust: shared by the averagers of a session.
        expected: who else will look for the next group; None waits like hivemind.
        most_members: of a group that this peer leads; None is as many as come.
        weight_limits: what members may weigh.
    """

    average_digests = b""
    """Of the last average, as `read_offences` found it: the same for all who have the same average."""

    def __init__(
        self,
        *args: Any,
        distrust: Distrust | None = None,
        expected: Callable[[], Expected] | None = None,
        most_members: int | None = None,
        weight_limits: Callable[[], WeightLimits] = WeightLimits,
        **options: Any,
    ) -> None:
        self.distrust, self.influence = distrust or Distrust(), Influence()
        self._expected, self._most_members, self._weight_limits = expected, most_members, weight_limits
        self._incoming, self._outgoing = multiprocessing.Pipe(duplex=False)
        self._reading = threading.Lock()
        self._all_answered, self._answering = asyncio.Event(), 0
        self._all_answered.set()
        super().__init__(*args, **options)

    def update_expected_peers(self) -> None:
        """Take over who is expected and what members may weigh now, also while a group is looked for."""
        self.read_offences()
        now = get_dht_time()
        refused, liars = self.distrust.peers(now), self.distrust.liars(now)
        expected = self._expected() if self._expected is not None else None
        if expected is not None:
            reports = {peer: at for peer, at in expected.reports.items() if str(PeerID(peer)) not in refused}
            expected = replace(expected, reports=reports)
        self._outer_pipe.send(("_expect", [expected, refused, liars, self._weight_limits()], {}))

    def read_offences(self) -> frozenset[str]:
        """Tell `distrust` what was seen since the last time; returns who it was."""
        seen = set()
        with self._reading:
            while self._incoming.poll():
                match self._incoming.recv():
                    case dict() as counted:
                        self.influence.add_round(counted)
                    case bytes() as digests:
                        self.average_digests = digests
                    case peer, offence:
                        seen.add(peer)
                        self.distrust.add(peer, offence, get_dht_time())
        return frozenset(seen)

    # What follows runs in the averager's process.

    _matchmaking: ExpectedGroup
    _running_groups: dict[bytes, asyncio.Future[AtomicAllReduce]]
    _limits = WeightLimits()
    _liars: frozenset[PeerID] = frozenset()
    """Nothing that they send counts."""
    _reported: Collection[tuple[PeerID, Offence]] = ()
    _search: asyncio.Task[None] | None = None

    @staticmethod
    def fits(_theirs: object, _own: object) -> bool:
        """Whether what another member adds to its claim fits to what this one adds."""
        return True

    async def _expect(
        self, expected: Expected | None, refused: Collection[str], liars: Collection[str], limits: WeightLimits
    ) -> None:
        self._limits, self._reported = limits, set()
        self._liars = frozenset(map(PeerID.from_base58, liars))
        self._matchmaking.refuse(frozenset(map(PeerID.from_base58, refused)), self._accuse, limits.proven)
        if expected is not None:
            await self._matchmaking.expect(expected, self._most_members)

    async def rpc_aggregate_part(self, stream: AsyncIterator[Any], context: P2PContext) -> AsyncIterator[Any]:
        """See hivemind."""
        self._answering += 1
        self._all_answered.clear()
        try:
            async for answer in super().rpc_aggregate_part(stream, context):
                yield answer
        finally:
            self._answering -= 1
            if not self._answering:
                self._all_answered.set()

    async def _shutdown(self, timeout: float | None) -> None:  # noqa: ASYNC109 - hivemind's signature
        # This peer has all averages of its last round; slower members may still wait for some from it.
        with suppress(TimeoutError):
            async with asyncio.timeout(_LONGEST_FAREWELL):
                await self._all_answered.wait()
        await super()._shutdown(timeout)

    async def _run_allreduce_inplace_(
        self, tensors: Sequence[torch.Tensor], group_info: GroupInfo, **options: Any
    ) -> None:
        options |= {
            "refused": self._liars,
            "accuse": self._accuse,
            "most_weight": partial(self._most_weight, group_info),
        }
        try:
            await super()._run_allreduce_inplace_(tensors, group_info, **options)
        except MembersLost as error:
            await self._matchmaking.lose(error.peers)
            self._accuse_silent(error.peers, group_info)
            raise
        except BaseException:  # also cancelled by a deadline: a member may have fallen silent
            if stopped := self._stopped_in(group_info):
                self._search = asyncio.create_task(self._find_silent(group_info, stopped))
            raise
        for peer in self._stopped_in(group_info):
            self._accuse(peer, "fell_silent")
        self._report(b"".join(self._digests_of(group_info)))

    @property
    def _unbelieved(self) -> frozenset[PeerID]:
        """Whose word counts for nothing, also of what was seen a moment ago."""
        return self._liars | {peer for peer, offence in self._reported if offence != "fell_silent"}

    def _most_weight(self, group: GroupInfo, peer: PeerID) -> float:
        members = [member.to_bytes() for member in group.peer_ids if member != self.peer_id]
        return self._limits.most(peer.to_bytes(), members, get_dht_time())

    def _stopped_in(self, group: GroupInfo) -> list[PeerID]:
        running = self._running_groups[group.group_id]
        return list(running.result().stopped) if running.done() and not running.cancelled() else []

    def _digests_of(self, group: GroupInfo) -> list[bytes]:
        """Of what each reducer gave in a round that has succeeded."""
        runner: AtomicAllReduce = self._running_groups[group.group_id].result()
        return runner.digests

    async def _find_silent(self, group: GroupInfo, stopped: list[PeerID]) -> None:
        """Who is to blame for a failed round: those that do not answer, or else who stopped, if it is one.

        A member that loses another one ends the round for those who have not noticed yet: of two, it can be either.
        """
        others = [peer for peer in group.peer_ids if peer != self.peer_id]
        there = await asyncio.gather(*(answers(self._p2p, peer) for peer in others))
        silent = [peer for peer, is_there in zip(others, there, strict=True) if not is_there]
        if silent or len(stopped) == 1:
            self._accuse_silent(silent or stopped, group)

    def _accuse_silent(self, peers: Collection[PeerID], group: GroupInfo) -> None:
        if len(peers) == len(group.peer_ids) - 1 > 1:
            # Nobody answers: this peer's own line is lost.
            return
        for peer in peers:
            self._accuse(peer, "fell_silent")

    def _accuse(self, peer: PeerID, offence: Offence) -> None:
        if len(self._reported) < _MOST_REPORTS and (peer, offence) not in self._reported:
            self._reported = {*self._reported, (peer, offence)}
            self._report((str(peer), offence))

    def _report(self, seen: tuple[str, Offence] | dict[str, float] | bytes) -> None:
        """An offence, how many samples of each member counted in a round, or digests of its average."""
        with suppress(OSError):  # the other process is ending
            self._outgoing.send(seen)
