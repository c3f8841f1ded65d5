"""Tells the other peers by which updates this one came here, and notices when the run has gone another way."""

import logging
import threading
from collections.abc import Callable
from typing import Annotated

import msgspec
from hivemind import DHT
from hivemind.dht.schema import BytesWithPublicKey, RSASignatureValidator, SchemaValidator
from hivemind.utils import ValueWithExpiration, get_dht_time
from hivemind.utils.crypto import RSAPrivateKey
from msgspec import Meta
from pydantic.v1 import BaseModel, conbytes

from core.swarm.state.update_chain import CanonicalFork, Mark, ReportedChain, Trail, canonical_fork_of

log = logging.getLogger(__name__)

_LARGEST = 512
"""Bytes of a record."""
_LASTS = 600.0
"""Seconds until a silent peer's record is forgotten; it is renewed at half of it, for updates can be far apart."""


class _Record(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    peer: Annotated[bytes, Meta(max_length=64)]
    trail: Trail
    gives: bool


class _Schema(BaseModel):
    lineage: dict[BytesWithPublicKey, conbytes(strict=True, max_length=_LARGEST)]  # type: ignore[valid-type]


class ForkDetector(threading.Thread):
    """Of one session. It waits for the DHT, so that training does not.

    Parameters:
        gives: whether this peer gives its state away.
        is_one_group: whether all peers fit into one; otherwise ways part in every round, and averaging states joins
            them again.
        key: that its record is signed with, by which its place in the DHT is told; that of the process, if None.
    """

    def __init__(
        self,
        dht: DHT,
        run_id: str,
        *,
        gives: bool,
        is_one_group: Callable[[], bool] = lambda: True,
        key: RSAPrivateKey | None = None,
    ) -> None:
        super().__init__(name="fork watch", daemon=True)
        self._dht, self._key, self._gives = dht, f"{run_id}_lineage", gives
        self._is_one_group = is_one_group
        signature = RSASignatureValidator(key)
        self._own_key = signature.local_public_key
        dht.add_validators([SchemaValidator(_Schema, prefix=run_id), signature])
        self._trail: tuple[Mark, ...] = ()
        self._canonical_fork: CanonicalFork | None = None
        self._news, self._over = threading.Event(), False

    def tell(self, trail: tuple[Mark, ...]) -> None:
        """After an update, or when a state was taken over. Does not block."""
        self._trail, self._canonical_fork = trail, None
        self._news.set()

    def canonical_fork(self) -> CanonicalFork | None:
        """The way to change over to; None if this peer is on the run's."""
        return self._canonical_fork

    def forget_canonical_fork(self) -> None:
        """Its state cannot be had now: go on, and look again after the next update."""
        self._canonical_fork = None

    def stop(self) -> None:
        self._over = True
        self._news.set()

    def run(self) -> None:
        while not self._over:
            is_news = self._news.wait(_LASTS / 2)
            self._news.clear()
            if not self._trail or self._over:
                continue
            try:
                trail = self._trail
                self._put(trail)
                canonical_fork = canonical_fork_of(trail, self._others()) if is_news and self._is_one_group() else None
            except Exception:  # top level of the thread: the DHT may be ending, and training goes on without a watch
                log.exception("the other peers' ways cannot be read")
                continue
            if canonical_fork is not None and trail == self._trail:
                log.warning(
                    "the run went another way at epoch %d, with %d peers",
                    canonical_fork.mark.epoch,
                    canonical_fork.mark.group,
                )
                self._canonical_fork = canonical_fork

    def _put(self, trail: tuple[Mark, ...]) -> None:
        record = msgspec.msgpack.encode(_Record(self._dht.peer_id.to_bytes(), trail, self._gives))
        self._dht.store(self._key, subkey=self._own_key, value=record, expiration_time=get_dht_time() + _LASTS)

    def _others(self) -> list[ReportedChain]:
        found = self._dht.get(self._key, latest=True)
        if not isinstance(found, ValueWithExpiration) or not isinstance(found.value, dict):
            return []
        told = (_told(record.value) for slot, record in found.value.items() if slot != self._own_key)
        return [entry for entry in told if entry is not None]


def _told(data: object) -> ReportedChain | None:
    try:
        record = msgspec.msgpack.decode(data, type=_Record) if isinstance(data, bytes) else None
    except (msgspec.MsgspecError, ValueError):  # the second for text that is not UTF-8
        return None
    return ReportedChain(record.peer, record.trail, record.gives) if record is not None else None
