"""What volunteers say they gave: signed statements in the DHT, one a session, replaced after every round.

A statement is signed with the volunteer's own key and names its slot of the DHT, so that nobody can put it
elsewhere; the slot's record is signed by hivemind with the key of this very process. It repeats the latest rounds,
since the host may miss one. Peers that keep it check form and size; what is claimed, the host checks.
"""

import hashlib
import logging
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hivemind import DHT
from hivemind.dht.schema import BytesWithPublicKey, SchemaValidator
from hivemind.utils import get_dht_time
from msgspec import Meta
from pydantic.v1 import BaseModel, conbytes

from core.api.preferences.preferences import DISPLAY_NAME
from core.swarm.dht.records import own_subkey, read_records

MOST_ROUNDS = 32
"""The most that a statement repeats."""
LARGEST = 2048
"""Bytes of a signed statement."""
_EXPIRATION = 300.0
"""Seconds until a silent peer's statement is forgotten."""
_PURPOSE = b"idlehive contribution 1\n"
_KEY, _SIGNATURE = 32, 64

_log = logging.getLogger(__name__)


class Round(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """This peer's part in one update of the collaboration."""

    epoch: Annotated[int, Meta(ge=1, le=1 << 53)]
    """The one that began with the update."""
    samples: Annotated[int, Meta(ge=1, le=1 << 53)]
    loss: float | None
    """Mean over these samples."""


class Statement(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What one session says of itself; all of it is self-reported."""

    run_id: Annotated[str, Meta(max_length=200)]
    slot: Annotated[bytes, Meta(min_length=16, max_length=16)]
    peer: Annotated[bytes, Meta(max_length=64)]
    """Its peer id in the swarm."""
    sequence: Annotated[int, Meta(ge=1, le=1 << 53)]
    """Grows with every statement of the session."""
    rounds: Annotated[tuple[Round, ...], Meta(max_length=MOST_ROUNDS)]
    samples_per_second: float
    name: Annotated[str, Meta(max_length=DISPLAY_NAME.longest)] | None = None


class BadStatement(Exception):
    """It must not be used; the argument is the reason in a word or two."""


class _Schema(BaseModel):
    contributions: dict[BytesWithPublicKey, conbytes(strict=True, max_length=LARGEST)]  # type: ignore[valid-type]


@dataclass(frozen=True)
class Found:
    """A record of the DHT and whose slot it is in."""

    slot: bytes
    data: bytes


def slot_of(subkey: bytes) -> bytes:
    """The short name of a place in the DHT, from the public key that owns it."""
    return hashlib.sha256(subkey).digest()[:16]


def sign(statement: Statement, key: Ed25519PrivateKey) -> bytes:
    body = msgspec.msgpack.encode(statement)
    return key.public_key().public_bytes_raw() + key.sign(_PURPOSE + body) + body


def verify(data: bytes) -> tuple[str, Statement]:
    """The volunteer's id (their public key in hexadecimal digits) and what they say.

    Raises:
        BadStatement: malformed or forged.
    """
    if len(data) > LARGEST:
        raise BadStatement("malformed")
    key, signature, body = data[:_KEY], data[_KEY : _KEY + _SIGNATURE], data[_KEY + _SIGNATURE :]
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, _PURPOSE + body)
        return key.hex(), msgspec.msgpack.decode(body, type=Statement)
    except InvalidSignature:
        raise BadStatement("forged") from None
    except (msgspec.DecodeError, ValueError):
        raise BadStatement("malformed") from None


class ContributionRecords:
    """The statements of one run. Every peer needs one, or it would keep the others' unchecked."""

    def __init__(self, dht: DHT, run_id: str) -> None:
        self._dht = dht
        self._key = f"{run_id}_contributions"
        self._own_subkey = own_subkey(dht.peer_id)
        self.own_slot = slot_of(self._own_subkey)
        dht.add_validators([SchemaValidator(_Schema, prefix=run_id)])

    def put(self, data: bytes) -> None:
        """Replace this peer's statement; does not wait for the peers that keep it."""
        expiration_time = get_dht_time() + _EXPIRATION
        self._dht.store(self._key, data, expiration_time, subkey=self._own_subkey, return_future=True)

    def read(self) -> Iterator[Found]:
        """Every peer's last statement."""
        for owner, record in read_records(self._dht, self._key).items():
            if isinstance(record.value, bytes):
                yield Found(slot_of(owner), record.value)


class Publisher:
    """Publishes this session's rounds, if there is a key and for as long as the volunteer wants it."""

    def __init__(self, dht: DHT, run_id: str, key_file: Path | None) -> None:
        """Without a key that can be read nothing is published: samples count for the swarm all the same."""
        self.records = ContributionRecords(dht, run_id)
        self._run_id, self._peer, self._key = run_id, dht.peer_id.to_bytes(), _read_key(key_file)
        self._rounds: deque[Round] = deque(maxlen=MOST_ROUNDS)
        self._sequence = 0

    def publish(self, done: Round, samples_per_second: float, *, wanted: bool, name: str) -> None:
        """Publish a round, if that is `wanted`; rounds from when it was not are never published."""
        if self._key is None or not wanted:
            self._rounds.clear()
            return
        self._rounds.append(done)
        self._sequence += 1
        statement = Statement(
            self._run_id,
            self.records.own_slot,
            self._peer,
            self._sequence,
            tuple(self._rounds),
            samples_per_second,
            name or None,
        )
        self.records.put(sign(statement, self._key))


def _read_key(file: Path | None) -> Ed25519PrivateKey | None:
    if file is None:
        return None
    try:
        return Ed25519PrivateKey.from_private_bytes(file.read_bytes())
    except (OSError, ValueError) as error:
        _log.warning("the volunteer's key cannot be used, so nothing is published: %s", error)
        return None
