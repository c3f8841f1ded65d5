"""Claims of ten honest sessions and a hundred keys of one attacker, over the real DHT: what the backbone credits."""

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hivemind import DHT
from hivemind.dht.crypto import RSASignatureValidator
from hivemind.dht.node import DHTNode
from hivemind.dht.routing import DHTID
from hivemind.dht.validation import DHTRecord
from hivemind.p2p import PeerID
from hivemind.utils import MSGPackSerializer, get_dht_time

from core.host.contributions.audit import Audit
from core.host.contributions.auditor import ContributionAuditor
from core.host.contributions.store import ContributionStore
from core.host.curve import Curve
from core.swarm.dht.contributions import Round, Statement, sign, slot_of
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.dht.signing_key import SigningKey
from tests.learning.small_project import small_manifest
from tests.swarm.installed import installed

RUN, TARGET = "run", 512
SAMPLES = 60
"""Of each honest session in a round."""


@dataclass
class Session:
    """Of a key of its own."""

    peer: bytes = field(default_factory=lambda: b"\x12\x20" + os.urandom(32))
    key: RSASignatureValidator = field(default_factory=lambda: RSASignatureValidator(SigningKey()))
    volunteer: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    rounds: list[Round] = field(default_factory=list)

    @property
    def subkey(self) -> bytes:
        return bytes(self.key.local_public_key) + self.peer

    def progress(self, epoch: int, samples: int) -> "Said":
        report = {"peer_id": self.peer, "epoch": epoch, "samples_accumulated": samples, "samples_per_second": 5.0}
        return self, "progress", {**report, "time": get_dht_time(), "client_mode": True}

    def claim(self, epoch: int, samples: int) -> "Said":
        self.rounds.append(Round(epoch, samples, 4.0))
        slot = slot_of(self.subkey)
        said = Statement(RUN, slot, self.peer, len(self.rounds), tuple(self.rounds), 5.0)
        return self, "contributions", sign(said, self.volunteer)


Said = tuple[Session, str, object]
"""Who, under which key of the DHT, what."""
Record = tuple[DHTID, bytes, bytes, float]
"""Key, subkey, value and expiration."""


def batched(records: Iterable[Record], size: int = 20) -> Iterator[list[Record]]:
    left = iter(records)
    while some := list(islice(left, size)):
        yield some


def signed(said: Said) -> Record:
    session, kind, value = said
    key, expires = DHTID.generate(source=f"{RUN}_{kind}"), get_dht_time() + 60.0
    plain = MSGPackSerializer.dumps(value)
    record = DHTRecord(key.to_bytes(), MSGPackSerializer.dumps(session.subkey), plain, expires)
    return key, session.subkey, session.key.sign_value(record), expires


async def _put(_dht: DHT, node: DHTNode, *, keeper: PeerID, records: list[Record]) -> int:
    """Runs in the DHT's process. Returns how many the keeper took."""
    keys, subkeys, values, expires = zip(*records, strict=True)
    return sum(await node.protocol.call_store(keeper, keys, values, expires, subkeys) or [])


class Books:
    """A backbone's, and a peer through which all sessions store."""

    def __init__(self, folder: Path, opened: ExitStack) -> None:
        opened.enter_context(installed(folder))
        self.dht = join_swarm([], folder / "backbone.key")
        opened.callback(self.dht.shutdown)
        self._other = join_swarm(own_addresses(self.dht), folder / "other.key")
        opened.callback(self._other.shutdown)
        self._store, curve = ContributionStore(folder, RUN), Curve(folder, RUN, 4 * TARGET)
        opened.callback(self._store.close)
        opened.callback(curve.close)
        training = msgspec.structs.replace(small_manifest().training, target_batch_size=TARGET, microbatch_size=16)
        self._audit = Audit(self._store, curve, RUN, training, knows_rounds=True)
        self._epoch, self._now = 0, 1_790_000_000.0
        self._auditor = ContributionAuditor(
            self.dht, RUN, self._audit, self._store, lambda: self._epoch, is_dht_working=lambda: True
        )

    def hear(self, *records: Said) -> None:
        # More at once are too large for the pipe to the DHT's process.
        for some in batched(map(signed, records)):
            assert self._other.run_coroutine(partial(_put, keeper=self.dht.peer_id, records=some)) == len(some)
        self._poll()

    def make(self, epoch: int, members: Iterable[Session]) -> None:
        """The update that `epoch` begins with, together with these."""
        slots = frozenset(slot_of(each.subkey) for each in members)
        self._audit.add_round(epoch, slots, may_be_others=False)
        self._epoch = epoch
        self._poll()

    def _poll(self) -> None:
        self._now += 1.0
        self._auditor.poll(self._now)

    def totals(self, sessions: Iterable[Session]) -> list[int]:
        found = (self._store.entry(each.volunteer.public_key().public_bytes_raw().hex()) for each in sessions)
        return [entry.samples if entry is not None else 0 for entry in found]


@pytest.fixture
def books(short_folder: Path) -> Iterator[Books]:
    with ExitStack() as opened:
        yield Books(short_folder, opened)


def test_a_hundred_keys_beside_ten_honest_sessions_get_nothing_for_rounds_that_they_were_not_in(books: Books) -> None:
    honest, liars = [Session() for _ in range(10)], [Session() for _ in range(100)]
    books.hear(*(each.progress(4, SAMPLES) for each in honest), *(each.progress(4, 4 * TARGET) for each in liars))
    books.make(5, honest)
    books.hear(*(each.claim(5, SAMPLES) for each in (*liars, *honest)))
    assert books.totals(honest) == [SAMPLES] * 10
    assert sum(books.totals(liars)) == 0


def test_a_hundred_keys_that_come_to_the_round_displace_nobody_who_was_there_before(books: Books) -> None:
    """Each claims a little less than an honest session, so that the largest claims are the honest ones."""
    honest, liars = [Session() for _ in range(10)], [Session() for _ in range(100)]
    books.hear(*(each.progress(4, SAMPLES) for each in honest))
    books.make(5, honest)
    books.hear(*(each.progress(5, SAMPLES) for each in (*honest, *liars)), *(each.claim(5, SAMPLES) for each in honest))
    assert books.totals(honest) == [SAMPLES] * 10
    books.make(6, [*honest, *liars])
    books.hear(*(each.claim(6, SAMPLES - 1) for each in liars), *(each.claim(6, SAMPLES) for each in honest))
    assert books.totals(honest) == [2 * SAMPLES] * 10
    assert sum(books.totals([*honest, *liars])) <= 4 * TARGET + 10 * SAMPLES
