"""An averager that checks, after a round, what the reducers made of it; see `core.swarm.trust.audit`.

It happens behind the round, which does not wait for it: who cheated is taken into no further group.
"""

import asyncio
import logging
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
import torch
from hivemind.averaging.allreduce import AveragingMode
from hivemind.averaging.group_info import GroupInfo
from hivemind.p2p import P2PContext, PeerID
from hivemind.proto import averaging_pb2
from msgspec import Meta

from core.swarm.averaging.guarded import GuardedAverager
from core.swarm.trust.audit import ENOUGH, Account, account_in, sums_of, wrong_reducers
from core.swarm.trust.claims import read_claim

log = logging.getLogger(__name__)

AUDITORS = 4
"""Members that audit a round, in the mean: all others answer each of them."""
_MOST_NUMBERS = 1 << 27
"""In a round that is audited: what is kept takes four bytes for each."""
_BEGINS = 1.0
"""Seconds after a round until its audit begins: for some members it still goes on, and sums take processors."""
_KEPT = 30.0
"""Seconds after a round in which questions about it are answered: members end it at different moments."""


class Question(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What a member asks the others after a round."""

    group: Annotated[bytes, Meta(max_length=64)]
    seed: Annotated[bytes, Meta(min_length=16, max_length=16)]


@dataclass
class _Round:
    """What this peer brought to a round and got from it, by reducer, in 16 bits a number."""

    group: GroupInfo
    weight: float
    has_ended: asyncio.Event = field(default_factory=asyncio.Event)
    asked: set[PeerID] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.brought, self.received = ([list[torch.Tensor]() for _peer in self.group.peer_ids] for _vector in range(2))

    def keep(self, reducer: int, brought: torch.Tensor, received: torch.Tensor) -> None:
        """A part. To be called when it comes: before or after the round, all members would wait for a copy of all."""
        self.brought[reducer].append(brought.detach().to(torch.bfloat16, copy=True))
        self.received[reducer].append(received.detach().to(torch.bfloat16, copy=True))

    def tell(self, seed: bytes) -> Account:
        return Account(self.weight, sums_of(self.brought, seed), sums_of(self.received, seed))


class AuditedAverager(GuardedAverager):
    """Audits some of its rounds, and answers the other members' questions. Coroutines run in its own process."""

    _is_robust: bool
    """Whether the average is such that a minority cannot move it far: otherwise, whoever sends much would make all
    reducers look wrong."""
    rounding = 0.3
    """What compression may change of an average, as a share of its norm; see `core.swarm.state.sketch`."""
    _audited: _Round | None = None
    _audit: asyncio.Task[None] | None = None

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
        is_audited = len(group_info.peer_ids) >= ENOUGH and sum(peer_fractions) <= _MOST_NUMBERS
        if not (self._is_robust and is_audited):
            await super()._run_allreduce_inplace_(tensors, group_info, **options)
            return
        made = self._audited = _Round(group_info, weight)
        try:
            await super()._run_allreduce_inplace_(tensors, group_info, keep=made.keep, **options)
        except BaseException:  # also cancelled: a round without an average has nothing to audit
            self._forget(made)
            raise
        made.has_ended.set()
        asyncio.get_running_loop().call_later(_KEPT, self._forget, made)
        if random.random() * (len(group_info.peer_ids) - 1) < AUDITORS:
            self._audit = asyncio.create_task(self._audit_round(made))

    async def rpc_tell_of_round(
        self, request: averaging_pb2.DownloadData, context: P2PContext
    ) -> averaging_pb2.DownloadData:
        """What this peer brought to a round and got from it; once to each member. Empty if it was not in the round."""
        made, question = self._audited, question_in(request.metadata)
        peer = context.remote_id
        if question is None or made is None or made.group.group_id != question.group:
            return averaging_pb2.DownloadData()
        if peer not in made.group.peer_ids or peer in made.asked:
            return averaging_pb2.DownloadData()
        made.asked.add(peer)
        try:
            async with asyncio.timeout(_KEPT):
                await made.has_ended.wait()
        except TimeoutError:
            return averaging_pb2.DownloadData()
        account = await asyncio.to_thread(made.tell, question.seed)
        return averaging_pb2.DownloadData(metadata=account.packed())

    async def _audit_round(self, made: _Round) -> None:
        await asyncio.sleep(_BEGINS)
        # Drawn only now: the reducers are bound by what they have sent.
        seed, peers = os.urandom(16), made.group.peer_ids
        own, question = peers.index(self.peer_id), msgspec.msgpack.encode(Question(made.group.group_id, seed))
        asked = [peer for peer in peers if peer != self.peer_id and _can_be_called(made.group, peer)]
        # What they may weigh changes with the next epoch.
        most = [self._most_weight(made.group, peer) for peer in asked]
        answers = await asyncio.gather(*(self._answer_of(peer, question) for peer in asked))
        accounts = [account_in(answer, len(peers), limit) for answer, limit in zip(answers, most, strict=True)]
        said = {peers.index(peer): account for peer, account in zip(asked, accounts, strict=True) if account}
        said[own] = await asyncio.to_thread(made.tell, seed)
        for reducer in wrong_reducers(own, said, len(peers), self.rounding):
            self._accuse(peers[reducer], "average_wrong")

    async def _answer_of(self, peer: PeerID, question: bytes) -> bytes:
        stub = self.get_stub(self._p2p, peer, namespace=self.prefix)
        try:
            async with asyncio.timeout(_KEPT):
                answer = await stub.rpc_tell_of_round(averaging_pb2.DownloadData(metadata=question))
        except Exception as error:  # noqa: BLE001 - it is away, or too old to serve this
            log.info("%r says nothing of the round: %r", peer, error)
            return b""
        return bytes(answer.metadata)

    def _forget(self, made: _Round) -> None:
        if self._audited is made:
            self._audited = None


def question_in(data: bytes) -> Question | None:
    """As a stranger sends it; None if it is malformed."""
    try:
        return msgspec.msgpack.decode(data, type=Question)
    except msgspec.MsgspecError:
        return None


def _can_be_called(group: GroupInfo, peer: PeerID) -> bool:
    claim = read_claim(group.gathered[group.peer_ids.index(peer)])
    return claim is not None and claim.mode != AveragingMode.CLIENT.value
