"""An averager that checks, after a round, what the reducers made of it; see `core.swarm.trust.audit`.

It happens behind the round, which does not wait for it: who cheated is taken into no further group.
"""

import asyncio
import logging
import math
import os
import random
from collections.abc import Collection, Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
import torch
from hivemind.averaging.allreduce import AveragingMode
from hivemind.averaging.group_info import GroupInfo
from hivemind.compression import CompressionBase, Float16Compression, NoCompression
from hivemind.p2p import P2PContext, PeerID
from hivemind.proto import averaging_pb2
from msgspec import Meta

from core.swarm.averaging.guarded import GuardedAverager
from core.swarm.trust.audit import (
    ENOUGH,
    SUMS,
    Account,
    Rounding,
    account_in,
    liars,
    sums_of,
    sums_of_part,
)
from core.swarm.trust.claims import read_claim
from core.swarm.trust.copies import Copies
from core.swarm.trust.refusals import Refusals

log = logging.getLogger(__name__)

AUDITORS = 2
"""Members that audit a round, in the mean: all others answer each of them."""
_MOST_NUMBERS = 1 << 27
"""In a round that is audited: what is kept takes two bytes for each, four where states are averaged."""
_BEGINS = 1.0
"""Seconds after a round until its audit begins: for some members it still goes on, and sums take processors."""
_PATIENCE = 30.0
"""Seconds for an answer."""
_KEPT = 10.0
"""Seconds after a round in which questions about it are answered: members end it at different moments."""
_LOSSY, _IN_8_BITS = 0.3, 1.5
"""How far what arrives may be from what was sent, as a share of the norm: 8 bits a number lose more than half of a
gradient with a few large numbers, so that only what points the other way is another vector for sure."""
_HALF = torch.finfo(torch.float16)


class Question(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What a member asks the others after a round."""

    group: Annotated[bytes, Meta(max_length=64)]
    seed: Annotated[bytes, Meta(min_length=16, max_length=16)]


class _Round:
    """What this peer brought to a round, and as a reducer took from each member and gave.

    Parameters:
        seed: if this peer audits the round. Nobody else knows it before the round has ended.
        most_weights: what each member may weigh in it.
        is_coarse: whether copies have 8 bits a number.
        largest: number that is sent as it is.
    """

    def __init__(
        self,
        group: GroupInfo,
        own: int,
        weight: float,
        seed: bytes | None,
        *,
        most_weights: Sequence[float],
        is_coarse: bool,
        largest: float,
    ) -> None:
        self.group, self.own, self.seed, self._weight, self._largest = group, own, seed, weight, largest
        self.most_weights = most_weights
        self.has_ended, self.asked = asyncio.Event(), set[PeerID]()
        self.incomplete: Collection[int] = ()
        """Members from whom, or to whom, not all came."""
        members = range(len(group.peer_ids))
        self._brought, self._taken = ([Copies(is_coarse=is_coarse) for _ in members] for _vector in range(2))
        self._given, self._counted = Copies(is_coarse=is_coarse), np.zeros(len(members))
        self.received = np.zeros((len(members), SUMS))
        """Sums of what each reducer gave, for the audit."""
        self.digests: Sequence[bytes] = ()
        """Of what each gave; empty unless the round has succeeded and averages were sent."""

    def keep_brought(self, reducer: int, number: int, part: torch.Tensor) -> None:
        """A part. To be called when it is sent: before or after the round, all members would wait for a copy of all."""
        self._brought[reducer].add(number, part.detach().clamp(-self._largest, self._largest))

    def keep_average(self, reducer: int, number: int, average: torch.Tensor) -> None:
        """Likewise, when it comes."""
        if reducer == self.own:
            self._given.add(number, average)
        if self.seed is not None:
            self.received[reducer] += sums_of_part(average, self.seed, reducer, number)

    def keep_part(self, sender: int, number: int, part: torch.Tensor, weight: float) -> None:
        """As this peer counts it, when a member brings it."""
        self._taken[sender].add(number, part)
        self._counted[sender] = weight

    @property
    def counted_by_peer(self) -> dict[str, float]:
        return {str(peer): float(counted) for peer, counted in zip(self.group.peer_ids, self._counted, strict=True)}

    def tell(self, seed: bytes) -> Account:
        brought = [sums_of(copies.by_number(), seed, reducer) for reducer, copies in enumerate(self._brought)]
        taken = [sums_of(copies.by_number(), seed, self.own) for copies in self._taken]
        given = sums_of(self._given.by_number(), seed, self.own)
        return Account(self._weight, np.array(brought), np.array(taken), self._counted, given, tuple(self.digests))


class AuditedAverager(GuardedAverager):
    """Audits some of its rounds, and answers the other members' questions. Coroutines run in its own process."""

    _is_robust: bool
    """Whether the average is such that a minority cannot move it far: otherwise, whoever sends much would make all
    reducers look wrong."""
    rounding = 0.3
    """What compression may change of an average, as a share of its norm; see `core.swarm.state.sketch`."""
    is_coarse = True
    """Whether 8 bits a number are enough to see a lie by."""
    _rounds: Sequence[_Round] = ()
    _audit: asyncio.Task[None] | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        self._refusals = Refusals[PeerID]()
        super().__init__(*args, **options)

    async def _run_allreduce_inplace_(
        self,
        tensors: Sequence[torch.Tensor],
        group_info: GroupInfo,
        *,
        peer_fractions: Sequence[int] = (),
        weight: float = 0.0,
        **options: Any,
    ) -> None:
        options |= {"peer_fractions": peer_fractions, "weight": weight}
        members = len(group_info.peer_ids)
        if not (self._is_robust and members >= ENOUGH and sum(peer_fractions) <= _MOST_NUMBERS):
            await super()._run_allreduce_inplace_(tensors, group_info, **options)
            return
        seed = os.urandom(16) if random.random() * (members - 1) < AUDITORS else None
        own = group_info.peer_ids.index(self.peer_id)
        largest = _HALF.max if isinstance(self._codec, Float16Compression) else math.inf
        # Now: what they may weigh changes with the next epoch, and an audit comes later.
        most = [
            self._most_weight(group_info, peer) if peer != self.peer_id else math.inf for peer in group_info.peer_ids
        ]
        made = _Round(group_info, own, weight, seed, most_weights=most, is_coarse=self.is_coarse, largest=largest)
        # The one before may still be asked for.
        self._rounds = [*self._rounds[-1:], made]
        try:
            await super()._run_allreduce_inplace_(tensors, group_info, record=made, **options)
            made.digests = self._digests_of(group_info)
        finally:
            # Also of a round that has failed here: for others it may have succeeded.
            made.has_ended.set()
            asyncio.get_running_loop().call_later(_KEPT, self._forget, made)
        runner = self._running_groups[group_info.group_id].result()
        made.incomplete = [group_info.peer_ids.index(peer) for peer in runner.incomplete]
        self._report(made.counted_by_peer)
        if seed is not None:
            self._audit = asyncio.create_task(self._audit_round(made, seed, peer_fractions))

    @property
    def _codec(self) -> CompressionBase:
        codec: CompressionBase = self.allreduce_kwargs["compression"]
        return codec

    def _rounding(self, shares: Sequence[int]) -> Rounding:
        """By the size of each reducer's share."""
        if isinstance(self._codec, NoCompression):
            return Rounding(self.rounding, _LOSSY, [0.0] * len(shares))
        is_half = isinstance(self._codec, Float16Compression)
        least = [_HALF.smallest_normal * _HALF.eps * math.sqrt(count) for count in shares]
        return Rounding(self.rounding, _LOSSY, least) if is_half else Rounding(_IN_8_BITS, _IN_8_BITS, least)

    async def rpc_tell_of_round(
        self, request: averaging_pb2.DownloadData, context: P2PContext
    ) -> averaging_pb2.DownloadData:
        """What this peer brought to a round, took and gave; once to each member. Empty if it was not in the round."""
        question, peer = question_in(request.metadata), context.remote_id
        asked_for = [made for made in self._rounds if question is not None and made.group.group_id == question.group]
        if question is None or not asked_for or peer not in asked_for[0].group.peer_ids or peer in asked_for[0].asked:
            return averaging_pb2.DownloadData()
        made = asked_for[0]
        made.asked.add(peer)
        try:
            async with asyncio.timeout(_PATIENCE):
                await made.has_ended.wait()
        except TimeoutError:
            return averaging_pb2.DownloadData()
        account = await asyncio.to_thread(made.tell, question.seed)
        return averaging_pb2.DownloadData(metadata=account.packed())

    async def _audit_round(self, made: _Round, seed: bytes, shares: Sequence[int]) -> None:
        await asyncio.sleep(_BEGINS)
        peers, question = made.group.peer_ids, msgspec.msgpack.encode(Question(made.group.group_id, seed))
        asked = [peer for peer in peers if peer != self.peer_id and _can_be_called(made.group, peer)]
        answers = await asyncio.gather(*(self._answer_of(peer, question) for peer in asked))
        accounts = [account_in(answer, len(peers)) for answer in answers]
        said = {peers.index(peer): account for peer, account in zip(asked, accounts, strict=True) if account}
        said[made.own] = await asyncio.to_thread(made.tell, seed)
        distrusted = [number for number, peer in enumerate(peers) if peer in self._unbelieved]
        rounding = self._rounding(shares)
        for member in liars(
            made.own,
            said,
            made.received,
            made.most_weights,
            shares=shares,
            rounding=rounding,
            distrusted=distrusted,
            incomplete=made.incomplete,
        ):
            self._accuse(peers[member], "average_wrong")
        reducers = [(number, peer) for number, peer in enumerate(peers) if peer in asked and shares[number]]
        unclear = [peer for number, peer in reducers if number in made.incomplete or number not in said]
        for peer in self._refusals.repeated(asked, unclear):
            self._accuse(peer, "average_wrong")

    async def _answer_of(self, peer: PeerID, question: bytes) -> bytes:
        stub = self.get_stub(self._p2p, peer, namespace=self.prefix)
        try:
            async with asyncio.timeout(_PATIENCE):
                answer = await stub.rpc_tell_of_round(averaging_pb2.DownloadData(metadata=question))
        except Exception as error:  # noqa: BLE001 - it is away, or too old to serve this
            log.info("%r says nothing of the round: %r", peer, error)
            return b""
        return bytes(answer.metadata)

    def _forget(self, made: _Round) -> None:
        self._rounds = [kept for kept in self._rounds if kept is not made]


def question_in(data: bytes) -> Question | None:
    """As a stranger sends it; None if it is malformed."""
    try:
        return msgspec.msgpack.decode(data, type=Question)
    except msgspec.MsgspecError:
        return None


def _can_be_called(group: GroupInfo, peer: PeerID) -> bool:
    claim = read_claim(group.gathered[group.peer_ids.index(peer)])
    return claim is not None and claim.mode != AveragingMode.CLIENT.value
