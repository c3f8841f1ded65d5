"""Compares what a donor sends with what the run's backbone has; without a backbone, with what most other peers have.

The answer comes over a connection that proves the backbone's identity, which is in the manifest. It is asked for when
the donor has announced epoch and hash of what it sends, and before the rest arrives.
"""

import asyncio
import logging
import os
from collections.abc import Collection, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import msgspec
import torch
from hivemind.averaging import DecentralizedAverager
from hivemind.p2p import P2PContext, PeerID
from hivemind.proto import averaging_pb2

from core.swarm.errors import BadState, ForeignState
from core.swarm.state.sketch import Sketch, Tolerance, is_same, sketch_in, sketch_of
from core.swarm.traffic.meter import current_kind

log = logging.getLogger(__name__)

_LAG = 2.0
"""Seconds that other members of a group may make an update later than its fastest one."""
_POLL_EVERY = 0.5
_MOST_WITNESSES = 8
_MOST_SKETCHES = 16
asked_epoch: ContextVar[int] = ContextVar("asked_epoch", default=0)
"""That of the present request from another peer."""


@dataclass(frozen=True)
class Witnesses:
    """Who is asked about the state of a donor."""

    backbone: tuple[PeerID, ...] = ()
    others: tuple[PeerID, ...] = ()
    """Asked only if no backbone answers."""


@dataclass(frozen=True)
class Testimony:
    """What the witnesses have."""

    sketches: tuple[Sketch, ...] = ()
    is_of_backbone: bool = True


def check_vouched(
    epoch: int, tensors: Sequence[torch.Tensor], parameters: int, heard: Testimony, tolerance: Tolerance
) -> None:
    """Raises ForeignState unless a backbone has the same state, or more than half of the peers: the donor, who has it
    by its own word, and the witnesses that answered. Where nobody answered, the donor is believed."""
    asked = len(heard.sketches)
    same = sum(sketch.epoch == epoch and is_same(sketch, tensors, parameters, tolerance) for sketch in heard.sketches)
    needed = min(asked, 1) if heard.is_of_backbone else (asked + 1) // 2
    if same < needed:
        raise ForeignState("state_not_of_run", epoch=epoch, same=same, asked=asked)


def request_of(epoch: int) -> averaging_pb2.DownloadData:
    """For a donor or a witness: the update that `epoch` began with. Of states, each has the newest only."""
    return averaging_pb2.DownloadData(metadata=msgspec.msgpack.encode(epoch))


def read_epoch(request: averaging_pb2.DownloadData) -> int:
    """Of another peer's request, also for what this task does next; 0 if it names none."""
    try:
        epoch = msgspec.msgpack.decode(request.metadata, type=int)
    except msgspec.MsgspecError:
        epoch = 0
    asked_epoch.set(epoch)
    return epoch


class StateVouching(DecentralizedAverager):
    """An averager that tells others what state it has, and asks them. Coroutines run in its own process.

    Parameters:
        vouches: whether its state is always that of the run: not that of a backbone which takes it over now and then.
    """

    def __init__(self, *args: Any, vouches: bool = True, **kwargs: Any) -> None:
        self._vouches = vouches
        self._sketching = asyncio.Lock()
        self._made = dict[int, tuple[float, bytes]]()
        """Sketches by what they are of, and when each was begun."""
        super().__init__(*args, **kwargs)

    async def rpc_sketch_state(
        self, request: averaging_pb2.DownloadData, _context: P2PContext
    ) -> averaging_pb2.DownloadData:
        """One at a time, the same for all who have asked before it is begun; empty if there is nothing to say."""
        if not self._vouches:
            return averaging_pb2.DownloadData()
        current_kind.set("state")
        epoch, clock = read_epoch(request), asyncio.get_running_loop().time
        asked_at = clock()
        async with self._sketching:
            # Of what is there, not of what is asked for: who asks for a thousand epochs gets no thousand sketches.
            of = self._sketched_for(epoch)
            if self._made.get(of, (0.0, b""))[0] < asked_at:
                began = clock()
                self._made = dict([*self._made.items(), (of, (began, await self._sketch()))][-_MOST_SKETCHES:])
            return averaging_pb2.DownloadData(metadata=self._made[of][1])

    def _sketched_for(self, _epoch: int) -> int:
        """Which of the things that it has this peer sketches for who asks for `_epoch`: of states, it has one."""
        return 0

    async def _sketch(self) -> bytes:
        metadata, tensors, _infos = await self._get_current_state_from_host_process()
        epoch = self.serializer.loads(metadata).get("epoch")
        if epoch is None:
            return b""
        return msgspec.msgpack.encode(await asyncio.to_thread(sketch_of, epoch, tensors, os.urandom(16)))

    async def _hear(self, donor: PeerID, epoch: int, witnesses: Witnesses, silence: float) -> Testimony:
        """What witnesses have, before the donor knows what they will say.

        Raises:
            BadState: the backbone is at another epoch.
        """
        if donor in witnesses.backbone:
            return Testimony()
        said = await self._sketches(witnesses.backbone, epoch, silence)
        if not said:
            others = [peer for peer in witnesses.others if peer != donor][:_MOST_WITNESSES]
            return Testimony(await self._sketches(others, epoch, silence), is_of_backbone=False)
        newest = max(sketch.epoch for sketch in said)
        if all(sketch.epoch != epoch for sketch in said):
            # Neither is a lie for certain: a donor may be late, and so may a backbone with a slow line.
            raise BadState("state_of_other_epoch", epoch=epoch, backbone=newest)
        return Testimony(said)

    async def _sketches(self, peers: Collection[PeerID], epoch: int, silence: float) -> tuple[Sketch, ...]:
        said = await asyncio.gather(*(self._sketch_of(peer, epoch, silence) for peer in peers))
        return tuple(sketch for sketch in said if sketch is not None)

    async def _sketch_of(self, peer: PeerID, epoch: int, silence: float) -> Sketch | None:
        """What a peer says of `epoch`, or of the one that it stays at; None if it says nothing."""
        stub, clock = self.get_stub(self._p2p, peer, namespace=self.prefix), asyncio.get_running_loop().time
        late_at = clock() + _LAG
        while True:
            try:
                async with asyncio.timeout(silence):
                    answer = await stub.rpc_sketch_state(request_of(epoch))
            except Exception as error:  # noqa: BLE001 - it is away, or too old to serve this
                log.info("%r says nothing of its state: %r", peer, error)
                return None
            sketch = sketch_in(answer.metadata)
            if sketch is None or sketch.epoch >= epoch or clock() > late_at:
                return sketch
            await asyncio.sleep(_POLL_EVERY)
