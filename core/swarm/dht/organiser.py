"""The epoch of the run, and who is banned from it, as its organiser says: a record in the DHT, signed with the
backbone's identity.

Everybody can write into the DHT. What counts here is the signature: the peer id of a backbone, which is the hash of its
public key, is in the manifest's `initial_peers`.
"""

import hashlib
import logging
import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from hivemind import DHT
from hivemind.p2p import PeerID
from hivemind.proto import crypto_pb2
from hivemind.utils import get_dht_time
from msgspec import Meta

from core.swarm.dht.records import own_subkey, read_records

_LASTS = 180.0
"""Seconds for which a record is believed after the backbone has fallen silent: three renewals may be lost."""
_RENEWED_AFTER = 40.0
"""Seconds; a peer reads it as often."""
_LARGEST = 8192
_MOST_BANS = 64
MOST_VALIDATED = 64
"""Peers lately validated that a record names."""
LONGEST_BAN = 2 * 86_400.0
"""Seconds."""
_SHA256_MULTIHASH = bytes((0x12, 32))
_PURPOSE = b"idlehive organiser 1\n"
_PADDING = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.DIGEST_LENGTH)
_HASH = hashes.SHA256()

_log = logging.getLogger(__name__)


_Peer = Annotated[bytes, Meta(min_length=1, max_length=64)]


class Ban(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Who is taken into no group until then, UTC seconds."""

    peer: _Peer
    until: float


class RunRecord(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What the organiser vouches for."""

    run_id: Annotated[str, Meta(max_length=200)]
    epoch: Annotated[int, Meta(ge=0, le=1 << 53)]
    """That the run has reached at least; 0: it has not begun."""
    at: float
    """When this was said, UTC seconds: the latest record counts."""
    bans: Annotated[tuple[Ban, ...], Meta(max_length=_MOST_BANS)] = ()
    validated: Annotated[tuple[Annotated[bytes, Meta(max_length=64)], ...], Meta(max_length=MOST_VALIDATED)] | None = (
        None
    )
    """Peers whose gradients were computed again lately; None: nobody's are."""
    subkey: Annotated[bytes, Meta(max_length=256)] = b""
    """Under which the backbone stores all of its records: other ones that name it are not its own."""


class _Signed(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    public_key: Annotated[bytes, Meta(max_length=1024)]
    """As libp2p encodes it."""
    signature: Annotated[bytes, Meta(max_length=1024)]
    body: Annotated[bytes, Meta(max_length=6144)]


def identity_key(file: Path) -> RSAPrivateKey:
    """The private key of a peer's identity file."""
    data = crypto_pb2.PrivateKey.FromString(file.read_bytes()).data
    key = serialization.load_der_private_key(data, password=None)
    if not isinstance(key, RSAPrivateKey):
        raise TypeError(f"{file} holds no RSA key")
    return key


def sign(record: RunRecord, key: RSAPrivateKey) -> bytes:
    der = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    public_key = crypto_pb2.PublicKey(key_type=crypto_pb2.RSA, data=der).SerializeToString()
    body = msgspec.msgpack.encode(record)
    return msgspec.msgpack.encode(_Signed(public_key, key.sign(_PURPOSE + body, _PADDING, _HASH), body))


def verify(data: object, organisers: Collection[PeerID], run_id: str) -> RunRecord | None:
    """The record, if one of `organisers` has signed it for this run."""
    if not isinstance(data, bytes) or len(data) > _LARGEST:
        return None
    try:
        signed = msgspec.msgpack.decode(data, type=_Signed)
        if _peer_id(signed.public_key) not in organisers:
            return None
        key = serialization.load_der_public_key(crypto_pb2.PublicKey.FromString(signed.public_key).data)
        if not isinstance(key, RSAPublicKey):
            return None
        key.verify(signed.signature, _PURPOSE + signed.body, _PADDING, _HASH)
        record = msgspec.msgpack.decode(signed.body, type=RunRecord)
    except (msgspec.MsgspecError, RecursionError, InvalidSignature, UnsupportedAlgorithm, ValueError) as error:
        _log.debug("a record of the organiser is not usable: %r", error)
        return None
    return record if record.run_id == run_id and math.isfinite(record.at) else None


def _peer_id(public_key: bytes) -> PeerID:
    return PeerID(_SHA256_MULTIHASH + hashlib.sha256(public_key).digest())


class OrganiserRecords:
    """The records of one run in the DHT."""

    def __init__(self, dht: DHT, run_id: str, organisers: Collection[PeerID]) -> None:
        self._dht, self._run_id, self._organisers = dht, run_id, frozenset(organisers)
        self._key = f"{run_id}_organiser"
        # Nobody else may write over the record, and so put it out of sight.
        self._own_subkey = own_subkey(dht.peer_id)
        self.subkeys: frozenset[bytes] = frozenset()
        """Those of the run's backbones, as read so far."""
        self._latest: RunRecord | None = None
        self._banned_until: dict[bytes, float] = {}

    def publish(
        self, epoch: int, key: RSAPrivateKey, bans: Sequence[Ban] = (), validated: Sequence[bytes] | None = None
    ) -> None:
        """Vouch for `epoch`, without waiting for the peers that keep the record."""
        now = get_dht_time()
        named = None if validated is None else tuple(validated)
        record = sign(RunRecord(self._run_id, epoch, now, tuple(bans), named, self._own_subkey), key)
        self._dht.store(self._key, record, now + _LASTS, subkey=self._own_subkey, return_future=True)

    def read(self) -> RunRecord | None:
        """The latest record that an organiser has signed and that still counts; None if there is none."""
        for found in read_records(self._dht, self._key).values():
            record = verify(found.value, self._organisers, self._run_id)
            if record is None:
                continue
            self.subkeys |= {record.subkey}
            for ban in record.bans:
                self._banned_until[ban.peer] = max(ban.until, self._banned_until.get(ban.peer, 0.0))
            if self._latest is None or record.at > self._latest.at:
                self._latest = record
        now = get_dht_time()
        if self._latest is not None and not now - _LASTS <= self._latest.at <= now + _LASTS:
            return None
        return self._latest

    def bans(self) -> dict[bytes, float]:
        """Until when each peer is banned that any of the organiser's backbones has banned, as read last."""
        now = get_dht_time()
        # No clock is so wrong, and no organiser so angry.
        self._banned_until = {
            peer: until for peer, until in self._banned_until.items() if now < until <= now + LONGEST_BAN
        }
        return dict(self._banned_until)


class RunRecordPublisher:
    """Of one backbone, which signs with its identity: peers know that from the manifest."""

    def __init__(self, dht: DHT, run_id: str, identity: Path) -> None:
        self._records = OrganiserRecords(dht, run_id, (dht.peer_id,))
        self._key = identity_key(identity)
        self._published = (-1, 0.0)
        self._bans: dict[bytes, float] = {}
        self._validated: dict[bytes, None] | None = None

    def add_validated(self, peer: bytes) -> None:
        """The peer's gradients are those of its samples. From any thread."""
        known = {other: None for other in self._validated or () if other != peer}
        self._validated = dict.fromkeys([*known, peer][-MOST_VALIDATED:])

    def ban(self, peer: bytes, until: float) -> None:
        """Published with the next record. From any thread."""
        self._bans = {**self._bans, peer: max(until, self._bans.get(peer, until))}
        self._published = (-1, 0.0)

    def publish(self, epoch: int, now: float) -> None:
        """Vouch for `epoch`, if that is new or was published a while ago. `now` is UTC seconds."""
        before, at = self._published
        if epoch != before or not at <= now < at + _RENEWED_AFTER:
            self._published = epoch, now
            lasting = [Ban(peer, until) for peer, until in self._bans.items() if until > now]
            # Nobody is to learn from their order whose turn it is.
            validated = None if self._validated is None else sorted(self._validated)
            self._records.publish(epoch, self._key, lasting[-_MOST_BANS:], validated)

    def is_found(self) -> bool:
        """Whether the DHT has kept a record that still counts. Waits for the DHT."""
        return self._records.read() is not None
