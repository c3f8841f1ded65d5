"""Publishes by which updates this peer came to its state, and detects when the run is on another fork."""

import logging
import threading
from collections.abc import Callable, Collection

import msgspec
from hivemind import DHT
from hivemind.dht.schema import BytesWithPublicKey, SchemaValidator
from hivemind.p2p import PeerID
from hivemind.utils import get_dht_time
from pydantic.v1 import BaseModel, conbytes

from core.swarm.dht.organiser import OrganiserRecords
from core.swarm.dht.records import own_subkey, read_records
from core.swarm.state.update_chain import CanonicalFork, ReportedChain, UpdateChain, canonical_fork_of

log = logging.getLogger(__name__)

_LARGEST = 512
"""Bytes of a record."""
_EXPIRATION = 600.0
"""Seconds until a silent peer's record is forgotten; it is renewed at half of it, for updates can be far apart."""


class _Schema(BaseModel):
    updates: dict[BytesWithPublicKey, conbytes(strict=True, max_length=_LARGEST)]  # type: ignore[valid-type]


class ForkDetector(threading.Thread):
    """Of one session. It waits for the DHT, so that training does not.

    Parameters:
        shares_state: whether this peer gives its state away.
        backbones: ids of the run's backbones.
        is_one_group: whether all peers fit into one; otherwise chains fork in every round, and averaging states joins
            them again.
    """

    def __init__(
        self,
        dht: DHT,
        run_id: str,
        *,
        shares_state: bool,
        backbones: Collection[bytes] = (),
        is_one_group: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(name="fork detection", daemon=True)
        self._dht, self._key, self._shares_state = dht, f"{run_id}_updates", shares_state
        self._is_one_group, self._backbones = is_one_group, frozenset(backbones)
        self._organiser = OrganiserRecords(dht, run_id, [PeerID(peer) for peer in backbones])
        self._own_subkey = own_subkey(dht.peer_id)
        dht.add_validators([SchemaValidator(_Schema, prefix=run_id)])
        self._updates: UpdateChain = ()
        self.canonical_fork: CanonicalFork | None = None
        """The fork to change over to; None if this peer is on the run's. Set it to None if its state cannot be had:
        the next update shows again where the run is."""
        self._changed, self._stopped = threading.Event(), False

    def publish(self, updates: UpdateChain) -> None:
        """To be called after an update, or when a state was taken over. Does not block."""
        self._updates, self.canonical_fork = updates, None
        self._changed.set()

    def stop(self) -> None:
        self._stopped = True
        self._changed.set()

    def run(self) -> None:
        while not self._stopped:
            has_changed = self._changed.wait(_EXPIRATION / 2)
            self._changed.clear()
            if not self._updates or self._stopped:
                continue
            try:
                updates = self._updates
                self._put(updates)
                fork = self._find(updates) if has_changed and self._is_one_group() else None
            except Exception:  # top level of the thread: the DHT may be ending, and training goes on without detection
                log.exception("the other peers' updates cannot be read")
                continue
            if fork is not None and updates == self._updates:
                log.warning("the run forked at epoch %d, with %d peers", fork.first.epoch, fork.first.group_size)
                self.canonical_fork = fork

    def _find(self, updates: UpdateChain) -> CanonicalFork | None:
        is_backbone = self._dht.peer_id.to_bytes() in self._backbones
        return canonical_fork_of(updates, self._others(), self._backbones, is_backbone=is_backbone)

    def _put(self, updates: UpdateChain) -> None:
        record = msgspec.msgpack.encode(ReportedChain(self._dht.peer_id.to_bytes(), updates, self._shares_state))
        self._dht.store(self._key, subkey=self._own_subkey, value=record, expiration_time=get_dht_time() + _EXPIRATION)

    def _others(self) -> list[ReportedChain]:
        records = read_records(self._dht, self._key).items()
        reported = [(owner, parse_record(record.value)) for owner, record in records if owner != self._own_subkey]
        chains = [(owner, chain) for owner, chain in reported if chain is not None]
        of_backbones = {owner for owner, chain in chains if chain.peer in self._backbones}
        if of_backbones - set(self._organiser.subkeys):
            # Once, however many: anybody can write records that name a backbone.
            self._organiser.read()
        # One that is not the backbone's does not count, or all would change over to its fork.
        return [chain for owner, chain in chains if owner not in of_backbones or owner in self._organiser.subkeys]


def parse_record(data: object) -> ReportedChain | None:
    """A record as a stranger wrote it; None if it is malformed."""
    try:
        return msgspec.msgpack.decode(data, type=ReportedChain) if isinstance(data, bytes) else None
    except (msgspec.MsgspecError, ValueError):  # the second for text that is not UTF-8
        return None
