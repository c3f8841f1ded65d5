"""Limits on what this peer takes from others in the DHT. hivemind has none: 5,000 values of 100 kB took 2.7 GiB.

Everybody may store records with everybody. So a record is small and short-lived, a peer has room for so many, and when
all room is taken, newcomers are refused: what is there already can be renewed.
"""

import functools
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from hivemind.dht.protocol import DHTProtocol
from hivemind.dht.routing import DHTID
from hivemind.dht.storage import DHTLocalStorage, DictionaryDHTValue
from hivemind.dht.validation import DHTRecord, RecordValidatorBase
from hivemind.p2p import P2PContext
from hivemind.proto import dht_pb2
from hivemind.utils import MSGPackSerializer

from core.swarm.dht.addresses import PeerAddresses

LARGEST_VALUE = 16 << 10
"""Bytes of a record; the largest honest ones, statements of contributions, have about 2,500."""
LONGEST = 900.0
"""Seconds that a record may still last; the longest-lived honest ones are made for 300, and clocks differ."""
_LARGEST_SUBKEY = 2048
MOST_BYTES = 64 << 20
MOST_BYTES_PER_PEER = 4 << 20
"""A peer hands over what it kept for others, too, when a better place for it comes."""
MOST_BYTES_PER_ADDRESS = 16 << 20
"""A laboratory behind one address stores some kilobytes for each of its computers."""
_OVERHEAD = 512
"""Bytes that a record costs besides its value."""
_COUNT_EVERY = 1.0
"""Seconds between two exact counts of what is stored; expired records leave it meanwhile."""


class RecordLimits(RecordValidatorBase):
    """Refuses records that are too large or would last too long, stored here or found elsewhere."""

    def validate(self, record: DHTRecord) -> bool:
        return is_acceptable(record.subkey, record.value, record.expiration_time, time.time())

    @property
    def priority(self) -> int:
        # Before signatures are computed and values are parsed.
        return 100

    def merge_with(self, other: RecordValidatorBase) -> bool:
        return isinstance(other, RecordLimits)


class ReadableRecords(RecordValidatorBase):
    """Refuses records that the reader of a key could not parse, both to be stored here and found elsewhere.

    hivemind parses records in a task that nobody waits for, so one that is not MessagePack makes the reader wait for
    ever. A record without a subkey would replace all records that have one; no peer of ours makes any.
    """

    def validate(self, record: DHTRecord) -> bool:
        return record.subkey != DHTProtocol.IS_REGULAR_VALUE and is_readable(record.value)

    @property
    def priority(self) -> int:
        # After signatures are taken off.
        return -100

    def merge_with(self, other: RecordValidatorBase) -> bool:
        return isinstance(other, ReadableRecords)


def is_readable(value: object) -> bool:
    """Whether hivemind can parse the value of a record, which may come from anybody."""
    if not isinstance(value, bytes):
        return False
    try:
        MSGPackSerializer.loads(value)
    except Exception:  # noqa: BLE001 - MessagePack, text, nested types: each fails in its own way
        return False
    return True


def is_acceptable(subkey: bytes, value: bytes, expiration_time: float, now: float) -> bool:
    """Whether a record is small and short-lived. A time that is no number is neither."""
    return len(value) <= LARGEST_VALUE and len(subkey) <= _LARGEST_SUBKEY and expiration_time <= now + LONGEST


class BoundedStorage(DHTLocalStorage):
    """Takes nothing new when all room is taken. What is there can be replaced."""

    def __init__(self, maxsize: int | None = None) -> None:
        super().__init__(maxsize)
        self._bytes, self._counted_at = 0, 0.0

    def store(self, key: DHTID, value: Any, expiration_time: float, subkey: Any = None) -> bool:
        if subkey is not None:
            return self.store_subkey(key, subkey, value, expiration_time)
        if isinstance(value, bytes) and not self._has_room(key not in self.data, len(value)):
            return False
        return bool(super().store(key, value, expiration_time))

    def store_subkey(self, key: DHTID, subkey: Any, value: bytes, expiration_time: float) -> bool:
        held = self.data.get(key)
        entries = held.value if held is not None else None
        is_new = not isinstance(entries, DictionaryDHTValue) or subkey not in entries.data
        if not self._has_room(is_new, len(value)):
            return False
        return bool(super().store_subkey(key, subkey, value, expiration_time))

    def _has_room(self, is_new: bool, size: int) -> bool:
        now = time.monotonic()
        if now >= self._counted_at + _COUNT_EVERY:
            self._counted_at, self._bytes = now, sum(_sizes(self))
        if is_new and self._bytes + size + _OVERHEAD > MOST_BYTES:
            return False
        self._bytes += size + _OVERHEAD
        return True


def _sizes(storage: DHTLocalStorage) -> Iterator[int]:
    for _key, (value, _expiration_time) in storage.items():  # noqa: PERF102 - not a dict
        if isinstance(value, DictionaryDHTValue):
            yield from (len(entry) + _OVERHEAD for _subkey, (entry, _) in value.items())
        else:
            yield len(value) + _OVERHEAD


class Quota:
    """How many bytes each owner, a peer or an address, has stored here that still last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._records: dict[bytes, dict[tuple[bytes, bytes], tuple[int, float]]] = {}
        self._bytes: Counter[bytes] = Counter()
        self._counted_at = 0.0

    def admits(self, owner: bytes, place: tuple[bytes, bytes], size: int, expiration_time: float, now: float) -> bool:
        """Whether the owner may store a record of `size` bytes at `place`; it then counts until it expires."""
        if not now <= expiration_time <= now + LONGEST:
            return False
        if not self._counted_at <= now < self._counted_at + _COUNT_EVERY:
            self._counted_at = now
            self._forget_expired(now)
        records = self._records.setdefault(owner, {})
        more = size + _OVERHEAD - records.get(place, (0, 0.0))[0]
        if self._bytes[owner] + more > self._most:
            return False
        records[place] = size + _OVERHEAD, expiration_time
        self._bytes[owner] += more
        return True

    def _forget_expired(self, now: float) -> None:
        for owner, records in list(self._records.items()):
            left = {place: held for place, held in records.items() if held[1] > now}
            self._records[owner] = left
            self._bytes[owner] = sum(size for size, _ in left.values())
            if not left:
                del self._records[owner], self._bytes[owner]


Store = Callable[[DHTProtocol, dht_pb2.StoreRequest, P2PContext], Awaitable[dht_pb2.StoreResponse]]


def limited_store(store: Store) -> Store:
    """`DHTProtocol.rpc_store` that refuses what the calling peer, or its address, has no room for."""
    of_peers, of_addresses, addresses = Quota(MOST_BYTES_PER_PEER), Quota(MOST_BYTES_PER_ADDRESS), PeerAddresses()

    @functools.wraps(store)
    async def rpc_store(self: DHTProtocol, request: dht_pb2.StoreRequest, context: P2PContext) -> dht_pb2.StoreResponse:
        now, peer = time.time(), context.remote_id.to_bytes()
        address = (await addresses.of(self.p2p, context.remote_id)).encode()
        records = list(
            zip(request.keys, request.subkeys, request.values, request.expiration_time, request.in_cache, strict=True)
        )
        admitted = [
            of_peers.admits(peer, place := (key, subkey), len(value), expiration_time, now)
            and of_addresses.admits(address, place, len(value), expiration_time, now)
            for key, subkey, value, expiration_time, _in_cache in records
        ]
        kept = [record for record, may in zip(records, admitted, strict=True) if may]
        keys, subkeys, values, expirations, in_cache = zip(*kept, strict=True) if kept else ((),) * 5
        response = await store(
            self,
            dht_pb2.StoreRequest(
                keys=keys,
                subkeys=subkeys,
                values=values,
                expiration_time=expirations,
                in_cache=in_cache,
                peer=request.peer,
                auth=request.auth,
            ),
            context,
        )
        stored = iter(list(response.store_ok))
        del response.store_ok[:]
        response.store_ok.extend(may and next(stored, False) for may in admitted)
        return response

    return rpc_store
