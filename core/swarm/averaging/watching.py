"""An averager that keeps sums of what one member sends it, for a validator; see `core.swarm.trust.validation`."""

import asyncio
import multiprocessing
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import torch
from hivemind.averaging import DecentralizedAverager
from hivemind.averaging.group_info import GroupInfo
from hivemind.p2p import PeerID

from core.swarm.trust.claims import added_by
from core.swarm.trust.parts import Watched
from core.swarm.trust.validation import Evidence, Facts, Wanted, evidence_of


class WatchingAverager(DecentralizedAverager):
    """Watches a member of a round, if asked to; then no other one until what was seen is read."""

    _watching: Wanted | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        self._evidence_in, self._evidence_out = multiprocessing.Pipe(duplex=False)
        super().__init__(*args, **options)

    def watch(self, wanted: Wanted | None) -> None:
        """Watch a member of each round from now on; None watches nobody."""
        self._watching = wanted
        self._outer_pipe.send(("_watch", [wanted], {}))

    def read_evidence(self) -> list[Evidence]:
        """Of rounds that have succeeded since the last time."""
        found = []
        while self._evidence_in.poll():
            found.append(self._evidence_in.recv())
        if found:
            self.watch(self._watching)
        return found

    # What follows runs in the averager's process.

    _wanted: Wanted | None = None

    async def _watch(self, wanted: Wanted | None) -> None:
        self._wanted = wanted

    async def _run_allreduce_inplace_(
        self,
        tensors: Sequence[torch.Tensor],
        group_info: GroupInfo,
        *,
        peer_fractions: Sequence[int] = (),
        **options: Any,
    ) -> None:
        peer = self._chosen(group_info)
        watched = options["watched"] = Watched(peer) if peer is not None else None
        await super()._run_allreduce_inplace_(tensors, group_info, peer_fractions=peer_fractions, **options)
        if watched is not None and peer is not None:
            epoch, _nonce, _adds_samples, slot, *_ = added_by(peer, group_info)
            own = group_info.peer_ids.index(self.peer_id)
            begin, count = sum(peer_fractions[:own]), peer_fractions[own]
            facts = Facts(str(peer), slot, epoch, watched.weight, begin, begin + count)
            evidence = await asyncio.to_thread(evidence_of, facts, watched.in_order())
            if evidence is not None:
                # A pipe that nobody reads would be full some day, and sending would stop this process.
                self._wanted = None
                with suppress(OSError):  # the other process is ending
                    self._evidence_out.send(evidence)

    def _chosen(self, group: GroupInfo) -> PeerID | None:
        if self._wanted is None:
            return None
        trainers = [peer for peer in group.peer_ids if peer != self.peer_id and added_by(peer, group)[2]]
        chosen = self._wanted.choice([str(peer) for peer in trainers])
        return PeerID.from_base58(chosen) if chosen is not None else None
