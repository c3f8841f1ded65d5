"""Takes the run's state over from another peer, or gives it away: one at a time, within limits, verified.

Nothing that arrives is unpickled: metadata are msgpack, tensors raw numbers in protobuf messages.
"""

import asyncio
import contextlib
import ctypes
import logging
import math
import multiprocessing
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, AsyncIterator  # noqa: UP035 - hivemind knows only this one as a stream

import torch
from hivemind.averaging import DecentralizedAverager
from hivemind.compression import deserialize_torch_tensor
from hivemind.p2p import P2PContext, PeerID
from hivemind.proto import averaging_pb2, runtime_pb2
from hivemind.utils import MPFuture
from hivemind.utils.asyncio import aiter_with_timeout
from hivemind.utils.streaming import combine_from_streaming
from hivemind.utils.timed_storage import ValueWithExpiration

from core.swarm.state.checks import (
    BadState,
    Layout,
    State,
    TensorLayout,
    bytes_of,
    check_digest,
    check_epoch,
    check_numbers,
    check_tensors,
    digest_of,
    newest_plausible,
)
from core.swarm.state.update_chain import CanonicalFork, Mark, trail_of
from core.swarm.traffic.meter import current_kind

log = logging.getLogger(__name__)

_LARGEST_METADATA = 1 << 20
"""Bytes; real ones take some kilobytes."""
_ANSWER_LASTS = 2.0
"""Seconds in which the averager's process drops a download that it is told to end."""
_LOOK_EVERY = 0.1
"""Seconds between two looks at whether a download is to go on."""


@dataclass(frozen=True)
class Terms:
    """Of one download."""

    oldest: int
    newest: int
    """Epochs that are plausible."""
    silence: float
    """Seconds without a byte after which it is given up."""
    way: Mark | None = None
    """That the state's trail has to have."""


class StateTransfer(DecentralizedAverager):
    """An averager's part in handing the run's state around. Methods with `_` and coroutines run in its own process."""

    layout: Callable[[], Layout]
    snapshot: Callable[[], State]
    receive_timeout = 600.0
    """Seconds after which the next donor is asked; may change while a state is on its way, as the ceiling may."""
    is_receiving = False
    """Whether a donor is asked for the state. Safe to read from any thread."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Before the fork, so that both processes have them.
        self._received = multiprocessing.Value(ctypes.c_uint64)
        self._given = multiprocessing.Value(ctypes.c_uint64)
        self._giving_lasts = multiprocessing.Value(ctypes.c_double, 600.0)
        self._giving: object | None = None
        self._giving_until = 0.0
        self._taking: asyncio.Task[None] | None = None
        super().__init__(*args, **kwargs)

    @property
    def state_received(self) -> int:
        """Bytes of the state that is being fetched, or was fetched last."""
        return int(self._received.value)

    @property
    def states_given(self) -> int:
        """Whole states sent to others."""
        return int(self._given.value)

    def limit_sending(self, seconds: float) -> None:
        """The time after which an upload of state must make room for another one."""
        self._giving_lasts.value = seconds

    # -- take ----------------------------------------------------------------------------------------------------

    def donors(self) -> list[tuple[PeerID, int]]:
        """Peers that give their state away, with the epoch they announce, the newest first."""
        found = self.dht.get(f"{self.prefix}.all_averagers", latest=True)
        entries = found.value if found is not None and isinstance(found.value, dict) else {}
        offers = [
            (PeerID(peer), int(entry.value))
            for peer, entry in entries.items()
            if isinstance(peer, bytes)
            and isinstance(entry, ValueWithExpiration)
            and isinstance(entry.value, float | int)
            and math.isfinite(entry.value)
            and PeerID(peer) != self.peer_id
        ]
        random.shuffle(offers)
        return sorted(offers, key=lambda offer: -offer[1])

    def fetch_state(
        self, oldest: int, known: int | None, stop: Callable[[], bool], canonical_fork: CanonicalFork | None = None
    ) -> State | None:
        """The first good state that a donor gives, asked one after the other; None if there is none.

        Parameters:
            oldest: epoch below which a state is of no use.
            known: epoch that the run is at; None if that is known from the donors alone.
            stop: whether none is wanted any more, asked again and again; what is on its way is then dropped.
            canonical_fork: the fork that the state has to be on, and who is on it.
        """
        self.is_receiving = True
        try:
            return self._first_good(oldest, known, stop, canonical_fork)
        finally:
            self.is_receiving = False

    def _first_good(
        self, oldest: int, known: int | None, stop: Callable[[], bool], canonical_fork: CanonicalFork | None
    ) -> State | None:
        way = canonical_fork.mark if canonical_fork is not None else None
        for donor, announced in self.donors():
            if stop():
                return None
            if canonical_fork is not None and donor.to_bytes() not in canonical_fork.donors:
                continue
            if announced < oldest:
                log.info("the state of %s is of epoch %d, older than %d: not asked for", donor, announced, oldest)
                continue
            newest = newest_plausible(announced if known is None else known)
            try:
                # Lambdas stay here: what crosses to the other process is plain.
                layout = self.layout()
                terms = Terms(oldest, newest, self.next_chunk_timeout or 15.0, way)
                metadata, tensors = self.receive(donor, layout.tensors, terms, stop)
                check_numbers(metadata.get("optimizer_metadata"), metadata["epoch"], layout)
            except BadState as error:
                log.warning("state from %s: %s", donor, error)
            else:
                return metadata, tensors
        return None

    def receive(self, donor: PeerID, expected: TensorLayout, terms: Terms, stop: Callable[[], bool]) -> State:
        """What the donor gives, if it is of that layout and arrives whole.

        Raises:
            BadState: it does not.
        """
        future: MPFuture[State] = MPFuture()
        self._outer_pipe.send(("_take_state", [donor.to_bytes(), expected, terms], {"future": future}))
        metadata, tensors = self._arrival(future, stop)
        check_tensors(tensors, expected)
        check_digest(metadata.get("digest"), tensors)
        return metadata, tensors

    def _arrival(self, future: "MPFuture[State]", stop: Callable[[], bool]) -> State:
        begin = time.monotonic()
        while True:
            try:
                state: State = future.result(timeout=_LOOK_EVERY)
                return state
            except TimeoutError:
                if stop():
                    why = "No longer wanted."
                elif time.monotonic() - begin > self.receive_timeout:
                    why = "The state did not arrive in time."
                else:
                    continue
            self._outer_pipe.send(("_drop_state", [], {}))
            with contextlib.suppress(TimeoutError):
                # The next donor can be asked only when this one is no longer listened to.
                future.exception(timeout=_ANSWER_LASTS)
            raise BadState(why)

    async def _drop_state(self) -> None:
        if self._taking is not None:
            self._taking.cancel()

    async def _take_state(self, donor: bytes, expected: TensorLayout, terms: Terms, future: MPFuture) -> None:
        current_kind.set("state")
        if self._taking is not None:
            future.set_exception(BadState("Another state is being fetched."))
            return
        self._taking = asyncio.current_task()
        self._received.value = 0
        state, wrong = None, BadState("The download was dropped.")
        try:
            state = await self._download(PeerID(donor), expected, terms)
        except asyncio.CancelledError:
            log.info("the download of the state from %s is dropped", PeerID(donor))
        except BadState as error:
            wrong = error
        except Exception as error:  # noqa: BLE001 - whatever a stranger's stream does must not end this process
            wrong = BadState(f"The state could not be fetched: {type(error).__name__}: {error}"[:300])
        self._taking = None
        if state is not None:
            future.set_result(state)
        else:
            future.set_exception(wrong)

    async def _download(self, donor: PeerID, expected: Any, terms: Terms) -> State:
        stub = self.get_stub(self._p2p, donor, namespace=self.prefix)
        stream = await stub.rpc_download_state(averaging_pb2.DownloadRequest())
        try:
            metadata: dict[str, Any] | None = None
            tensors, parts, got = list[torch.Tensor](), list[runtime_pb2.Tensor](), 0
            async for message in aiter_with_timeout(stream, terms.silence):
                if metadata is None:
                    metadata = self._announcement(message.metadata, terms)
                if len(tensors) == len(expected):
                    raise BadState("The donor sends more than a state; it was not used.")
                shape, kind = expected[len(tensors)]
                parts.append(_checked(message.tensor_part, first=not parts))
                got += len(message.tensor_part.buffer)
                with self._received.get_lock():
                    self._received.value += len(message.tensor_part.buffer)
                if got > bytes_of(shape, kind):
                    raise BadState("The state is of another model; it was not used.")
                if got == bytes_of(shape, kind):
                    tensors.append(_tensor(parts, shape, kind))
                    parts, got = [], 0
            if metadata is None:
                raise BadState("The donor gives to somebody else, or nothing, at the moment.")
            if len(tensors) < len(expected):
                raise BadState("The donor stopped in the middle of its state.")
            return metadata, tensors
        finally:
            with contextlib.suppress(Exception):
                await stream.aclose()

    def _announcement(self, raw: bytes, terms: Terms) -> dict[str, Any]:
        if not 0 < len(raw) <= _LARGEST_METADATA:
            raise BadState("The donor does not say what it sends.")
        metadata = self.serializer.loads(raw)
        if not isinstance(metadata, dict):
            raise BadState("The donor does not say what it sends.")
        check_epoch(metadata.get("epoch"), terms.oldest, terms.newest)
        if terms.way is not None and terms.way not in trail_of(metadata.get("trail")):
            raise BadState("The donor's state did not come the way of the run.")
        return metadata

    # -- give ----------------------------------------------------------------------------------------------------

    def announced(self, metadata: dict[str, Any], tensors: list[torch.Tensor]) -> dict[str, Any]:
        """Metadata as they go before the tensors."""
        return {**metadata, "digest": digest_of(tensors)}

    async def rpc_download_state(
        self, request: averaging_pb2.DownloadRequest, context: P2PContext
    ) -> AsyncIterator[averaging_pb2.DownloadData]:
        """One at a time; whoever comes meanwhile gets an empty answer at once and asks somebody else."""
        current_kind.set("state")
        now = asyncio.get_running_loop().time()
        if self._giving is not None and now < self._giving_until:
            return
        # A taker that does not read must not keep the others away for ever: after a while the next one pushes it out.
        ticket = self._giving = object()
        self._giving_until = now + self._giving_lasts.value
        try:
            async for message in super().rpc_download_state(request, context):
                if self._giving is not ticket:
                    return
                yield message
            with self._given.get_lock():
                self._given.value += 1
        finally:
            if self._giving is ticket:
                self._giving = None


def _checked(part: runtime_pb2.Tensor, *, first: bool) -> runtime_pb2.Tensor:
    if first and part.compression != runtime_pb2.CompressionType.NONE:
        raise BadState("The state is compressed, which loses digits; it was not used.")
    if not part.buffer:
        raise BadState("The donor sends empty messages.")
    return part


def _tensor(parts: list[runtime_pb2.Tensor], shape: tuple[int, ...], kind: torch.dtype) -> torch.Tensor:
    if tuple(parts[0].size) != shape or parts[0].dtype != str(kind).removeprefix("torch."):
        raise BadState("The state is of another model; it was not used.")
    tensor: torch.Tensor = deserialize_torch_tensor(combine_from_streaming(parts))
    return tensor.detach()
