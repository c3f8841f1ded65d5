"""Takes the run's state over from another peer: one donor after the other, within limits, verified.

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
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from typing import Any, TypeVar

from hivemind.p2p import PeerID
from hivemind.utils import MPFuture, get_dht_time

from core.swarm.dht.progress.credible_progress import Disbelief
from core.swarm.dht.records import announced_peer, read_records
from core.swarm.errors import BadState, ForeignState
from core.swarm.state.checks import Layout, State, check_numbers, newest_plausible
from core.swarm.state.giving import StateGiving
from core.swarm.state.incoming import IncomingState, StateRequest, check_arrived
from core.swarm.state.sketch import FINE, Tolerance
from core.swarm.state.update_chain import CanonicalFork, UpdateChain, chain_of
from core.swarm.state.vouching import Testimony, Witnesses, request_of
from core.swarm.traffic.meter import current_kind

log = logging.getLogger(__name__)

_DROP_TIMEOUT = 2.0
"""Seconds in which the averager's process drops a download that is to end."""
_POLL_EVERY = 0.1
"""Seconds between two checks whether a download is to go on."""

Answer = TypeVar("Answer")
Message = TypeVar("Message")
_Arrived = tuple[State, Testimony]


class StateTransfer(StateGiving):
    """An averager's part in passing on the run's state. Methods with `_` and coroutines run in its own process."""

    layout: Callable[[], Layout]
    local_epoch: int
    updates: UpdateChain = ()
    """The latest of those that led to the present state."""
    backbone: Collection[PeerID] = ()
    """Asked first: it is there to give, on a server's link, and its state is the run's."""
    state_was_loaded = False
    """The result of the last `load_state_from_peers`."""
    receive_timeout = 600.0
    """Seconds after which the next donor is asked; may change while a state is on its way, as the ceiling may."""
    is_receiving = False
    """Whether a donor is asked for the state. Safe to read from any thread."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Before the fork, so that both processes have it.
        self._received = multiprocessing.Value(ctypes.c_uint64)
        self._taking: asyncio.Task[None] | None = None
        self._distrusted = Disbelief()
        self.on_foreign_state: Callable[[], None] = lambda: None
        """Called when a donor has offered a state that is not the run's."""
        self.approve: Callable[[State], None] = lambda _state: None
        """Raises BadState if a state that is good otherwise must not be used."""
        self.tolerance: Callable[[], Tolerance] = lambda: FINE
        """How far the states of peers may be apart."""
        super().__init__(*args, **kwargs)

    @property
    def silence(self) -> float:
        """Seconds without a byte after which a download is given up."""
        return self.next_chunk_timeout or 15.0

    @property
    def state_received(self) -> int:
        """Bytes of the state that is being fetched, or was fetched last."""
        return int(self._received.value)

    def donors(self) -> list[tuple[PeerID, int]]:
        """Peers that give their state away, with the epoch they announce: the backbone, then the newest first."""
        offers = [
            (peer, int(record.value))
            for subkey, record in read_records(self.dht, f"{self.prefix}.all_averagers").items()
            if isinstance(record.value, float | int) and math.isfinite(record.value)
            if (peer := announced_peer(subkey)) is not None and peer != self.peer_id
        ]
        random.shuffle(offers)
        return sorted(offers, key=lambda offer: (offer[0] not in self.backbone, -offer[1]))

    def load_state_from_peers(
        self,
        offered: State | None = None,
        oldest: int = 0,
        known_epoch: int | None = None,
        stop: Callable[[], bool] = lambda: False,
        canonical_fork: CanonicalFork | None = None,
    ) -> Any:
        """A checked state: `offered`, or the first good one that a donor gives. hivemind's state averager applies it.

        Parameters:
            oldest: epoch below which a state is of no use, besides those before the present one.
            known_epoch: that the run is at; None if it is known from the donors alone. One far ahead is not believed.
            stop: whether none is wanted any more, asked again and again; a download is then dropped.
            canonical_fork: the fork that the state has to be on, and who is on it.
        """
        self.state_was_loaded = False
        loaded = offered
        if offered is None:
            requests = self._requests(max(self.local_epoch, oldest), known_epoch, canonical_fork)
            loaded = self.first_good(requests, self._checked, stop)
        self.state_was_loaded = loaded is not None
        if loaded is not None:
            self.updates = chain_of(loaded[0].get("updates"))
        return loaded

    def _requests(
        self, oldest: int, known: int | None, canonical_fork: CanonicalFork | None
    ) -> Iterator[tuple[PeerID, StateRequest]]:
        first_update = canonical_fork.first if canonical_fork is not None else None
        donors = self.donors()
        witnesses = self.witnesses(donors)
        for donor, announced in donors:
            if canonical_fork is not None and donor.to_bytes() not in canonical_fork.donors:
                continue
            if announced < oldest:
                log.info("the state of %s is of epoch %d, older than %d: not asked for", donor, announced, oldest)
                continue
            newest = newest_plausible(announced if known is None else known)
            layout = self.layout()
            limits = (layout.tensors, layout.parameters, oldest, newest, self.silence)
            yield donor, StateRequest(*limits, first_update, witnesses, self.tolerance())

    def witnesses(self, donors: Iterable[tuple[PeerID, int]]) -> Witnesses:
        """Who is asked about a donor's state. Others than a backbone count once they have made an update."""
        others = tuple(peer for peer, epoch in donors if epoch > 0 and peer not in self.backbone)
        return Witnesses(tuple(peer for peer in self.backbone if peer != self.peer_id), others)

    def _checked(self, state: State) -> State:
        metadata, _tensors = state
        check_numbers(metadata.get("optimizer_metadata"), metadata["epoch"], self.layout())
        self.approve(state)
        return state

    def first_good(
        self,
        requests: Iterable[tuple[PeerID, StateRequest]],
        checked: Callable[[State], Answer],
        stop: Callable[[], bool],
    ) -> Answer | None:
        """What `checked` makes of the first good answer. Donors are asked one after the other until `stop`."""
        self.is_receiving = True
        try:
            for donor, request in requests:
                if stop():
                    break
                if donor.to_bytes() in self._distrusted.slots(get_dht_time()):
                    continue
                try:
                    return checked(self.receive(donor, request, stop))
                except BadState as error:
                    log.warning("%s from %s: %s", self.prefix, donor, error)
                    if isinstance(error, ForeignState):
                        self._distrusted.add([donor.to_bytes()], get_dht_time())
                        self.on_foreign_state()
        finally:
            self.is_receiving = False
        return None

    def receive(self, donor: PeerID, request: StateRequest, stop: Callable[[], bool]) -> State:
        """What the donor gives, if it is as requested and arrives whole.

        Raises:
            BadState: it is not, or `stop` says that it is no longer wanted.
        """
        future: MPFuture[_Arrived] = MPFuture()
        self._outer_pipe.send(("_take_state", [donor.to_bytes(), request], {"future": future}))
        state, heard = self._wait_for(future, stop)
        check_arrived(state, heard, request)
        return state

    def _wait_for(self, future: "MPFuture[_Arrived]", stop: Callable[[], bool]) -> _Arrived:
        begin = time.monotonic()
        while True:
            try:
                arrived: _Arrived = future.result(timeout=_POLL_EVERY)
                return arrived
            except TimeoutError:
                if stop():
                    why = "download_not_wanted"
                elif time.monotonic() - begin > self.receive_timeout:
                    why = "download_too_slow"
                else:
                    continue
            self._outer_pipe.send(("_drop_state", [], {}))
            with contextlib.suppress(TimeoutError):
                # The next donor can be asked only when this one is no longer listened to.
                future.exception(timeout=_DROP_TIMEOUT)
            raise BadState(why)

    async def _drop_state(self) -> None:
        if self._taking is not None:
            self._taking.cancel()

    async def _take_state(self, donor: bytes, request: StateRequest, future: MPFuture) -> None:
        current_kind.set("state")
        if self._taking is not None:
            future.set_exception(BadState("download_running"))
            return
        self._taking = asyncio.current_task()
        self._received.value = 0
        arrived, problem = None, BadState("download_dropped")
        try:
            arrived = await self._download(PeerID(donor), request)
        except asyncio.CancelledError:
            log.info("the download of the state from %s is dropped", PeerID(donor))
        except BadState as error:
            problem = error
        except Exception as error:  # noqa: BLE001 - whatever a stranger's stream does must not end this process
            problem = BadState("download_failed", detail=f"{type(error).__name__}: {error}"[:300])
        self._taking = None
        if arrived is not None:
            future.set_result(arrived)
        else:
            future.set_exception(problem)

    async def _download(self, donor: PeerID, request: StateRequest) -> _Arrived:
        stub = self.get_stub(self._p2p, donor, namespace=self.prefix)
        stream = await stub.rpc_download_state(request_of(request.oldest))
        incoming, heard = IncomingState(request), None
        try:
            async for message in each_within(request.silence, stream):
                incoming.add(message)
                if heard is None and incoming.epoch is not None:
                    heard = await self._hear(donor, incoming.epoch, request.witnesses, request.silence)
                with self._received.get_lock():
                    self._received.value += len(message.tensor_part.buffer)
                if incoming.is_complete:
                    break
            return incoming.finish(), heard or Testimony()
        finally:
            with contextlib.suppress(Exception):  # the stream may have ended in any way; its error is known already
                await stream.aclose()


async def each_within(seconds: float, messages: AsyncIterator[Message]) -> AsyncIterator[Message]:
    """A stream's messages; raises TimeoutError when none comes for so long.

    hivemind's `aiter_with_timeout` forgets a cancellation that comes together with a message (asyncio.wait_for does
    before Python 3.12): the rest of a state would come during a pause.
    """
    with contextlib.suppress(StopAsyncIteration):
        while True:
            async with asyncio.timeout(seconds):
                message = await anext(messages)
            yield message
