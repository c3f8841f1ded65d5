"""Gives the run's state away: to one peer at a time, and to one address after the other."""

import asyncio
import contextlib
import ctypes
import multiprocessing
from typing import Any, AsyncIterator  # noqa: UP035 - hivemind knows only this one as a stream

import torch
from hivemind.p2p import P2PContext
from hivemind.proto import averaging_pb2
from hivemind.utils import get_dht_time

from core.swarm.dht.addresses import PeerAddresses
from core.swarm.dht.records import own_subkey
from core.swarm.state.checks import digest_of
from core.swarm.state.vouching import StateVouching, read_epoch
from core.swarm.traffic.meter import current_kind

_DECLARED_FOR = 60.0
"""Seconds for which a donor's announcement lasts, twice as long as until the next one. Who joins a run whose last donor
was killed waits for so long until it counts as not begun."""
_PATIENCE = 5.0
"""Seconds for which a place is kept for an address that was turned away: a receiver asks again every two."""


class Turns:
    """Who may have the state next: an address that has just had it lets others go first. Pure, times in seconds.

    Without it a peer that asks again and again would leave none of a donor's time to newcomers. Several peers of one
    address get the state one after the other while nobody else wants it.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, float] = {}
        self._last: str | None = None

    def may_begin(self, address: str, now: float) -> bool:
        self._waiting = {other: at for other, at in self._waiting.items() if now < at + _PATIENCE}
        if address == self._last and self._waiting.keys() - {address}:
            return False
        self._waiting.pop(address, None)
        self._last = address
        return True

    def turn_away(self, address: str, now: float) -> None:
        self._waiting[address] = now


class StateGiving(StateVouching):
    """A donor. Methods with `_` and coroutines run in the averager's process."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Before the fork, so that both processes have them.
        self._given = multiprocessing.Value(ctypes.c_uint64)
        self._giving_lasts = multiprocessing.Value(ctypes.c_double, 600.0)
        self._giving: object | None = None
        self._giving_until = 0.0
        self._turns, self._addresses = Turns(), PeerAddresses()
        super().__init__(*args, declare_state_period=_DECLARED_FOR, **kwargs)

    @property
    def states_given(self) -> int:
        return int(self._given.value)

    def limit_sending(self, seconds: float) -> None:
        """The time after which an upload of state must make room for another one."""
        self._giving_lasts.value = seconds

    async def _declare_for_download_periodically(self) -> None:
        """Announce the epoch of the state that this peer gives away, when it has changed and before others forget it.

        hivemind's own method announces it again for each tensor of a round, which makes dozens of DHT searches at once.
        """
        announced: tuple[int | float | None, float] = None, 0.0
        while True:
            self._state_updated.clear()
            offered = self.state_sharing_priority if self.allow_state_sharing else None
            now = get_dht_time()
            if offered != announced[0] or (offered is not None and now >= announced[1] + self.declare_state_period / 2):
                announced = offered, now
                self.dht.store(
                    f"{self.prefix}.all_averagers",
                    subkey=own_subkey(self.peer_id),
                    value=offered,
                    expiration_time=now + self.declare_state_period,
                    return_future=True,
                )
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.declare_state_period / 4):
                    await self._state_updated.wait()

    def announced(self, metadata: dict[str, Any], tensors: list[torch.Tensor]) -> dict[str, Any]:
        """The metadata that are sent before the tensors."""
        return {**metadata, "digest": digest_of(tensors)}

    async def rpc_download_state(
        self, request: averaging_pb2.DownloadData, context: P2PContext
    ) -> AsyncIterator[averaging_pb2.DownloadData]:
        """One at a time; others get an empty answer at once and ask another donor."""
        current_kind.set("state")
        read_epoch(request)
        address = await self._addresses.of(self._p2p, context.remote_id)
        now = asyncio.get_running_loop().time()
        is_busy = self._giving is not None and now < self._giving_until
        if is_busy or not self._turns.may_begin(address, now):
            self._turns.turn_away(address, now)
            return
        # A receiver that does not read must not block the others: after a while the next one takes its place.
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
