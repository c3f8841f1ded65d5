"""Sessions of keys of their own, of which one attacker can have a hundred: what they report and claim in the DHT."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hivemind import DHT
from hivemind.dht.crypto import RSASignatureValidator
from hivemind.dht.node import DHTNode
from hivemind.dht.routing import DHTID
from hivemind.dht.validation import DHTRecord
from hivemind.p2p import PeerID
from hivemind.utils import MSGPackSerializer, get_dht_time

from core.swarm.dht.contributions import MOST_ROUNDS, Round, Statement, sign, slot_of
from core.swarm.dht.signing_key import SigningKey


@dataclass
class Session:
    """Of a key of its own."""

    run: str
    peer: bytes = field(default_factory=lambda: b"\x12\x20" + os.urandom(32))
    key: RSASignatureValidator = field(default_factory=lambda: RSASignatureValidator(SigningKey()))
    volunteer: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    rounds: list[Round] = field(default_factory=list)

    @property
    def subkey(self) -> bytes:
        return bytes(self.key.local_public_key) + self.peer

    def progress(self, epoch: int, samples: int, samples_per_second: float = 5.0) -> "Said":
        report = {"peer_id": self.peer, "epoch": epoch, "samples_accumulated": samples}
        said = {**report, "samples_per_second": samples_per_second, "time": get_dht_time(), "client_mode": True}
        return self, "progress", said

    def claim(self, epoch: int, samples: int) -> "Said":
        self.rounds.append(Round(epoch, samples, 4.0))
        slot = slot_of(self.subkey)
        said = Statement(self.run, slot, self.peer, len(self.rounds), tuple(self.rounds[-MOST_ROUNDS:]), 5.0)
        return self, "contributions", sign(said, self.volunteer)


Said = tuple[Session, str, object]
"""Who, under which key of the DHT, what."""
Record = tuple[DHTID, bytes, bytes, float]
"""Key, subkey, value and expiration."""


def batched(said: Iterable[Said], size: int = 20) -> Iterator[list[Record]]:
    """The records of it. More at once are too large for the pipe to the DHT's process."""
    left = map(_signed, said)
    while some := list(islice(left, size)):
        yield some


def _signed(said: Said) -> Record:
    session, kind, value = said
    key, expires = DHTID.generate(source=f"{session.run}_{kind}"), get_dht_time() + 60.0
    plain = MSGPackSerializer.dumps(value)
    record = DHTRecord(key.to_bytes(), MSGPackSerializer.dumps(session.subkey), plain, expires)
    return key, session.subkey, session.key.sign_value(record), expires


async def put(_dht: DHT, node: DHTNode, *, keeper: PeerID, records: list[Record]) -> int:
    """Runs in the DHT's process. Returns how many the keeper took."""
    keys, subkeys, values, expires = zip(*records, strict=True)
    return sum(await node.protocol.call_store(keeper, keys, values, expires, subkeys) or [])
