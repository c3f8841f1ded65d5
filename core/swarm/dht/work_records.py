"""Which samples each peer brought to its latest rounds, in the DHT, signed with the session's key."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Annotated, NamedTuple

import msgspec
from hivemind import DHT
from hivemind.p2p import PeerID
from hivemind.utils import get_dht_time
from msgspec import Meta

from core.learning.order import Piece
from core.swarm.dht.contributions import slot_of
from core.swarm.dht.records import announced_peer, own_subkey, read_records
from core.swarm.dht.work_questions import answer_with, ask

LASTS = 300.0
"""Seconds for which a record is kept after its round should have ended."""
_LONGEST = 900.0
_MOST_RUNS = 2048
_MOST_PIECES = 1 << 16
"""Of all rounds that are published: a few bytes can name as many."""
_MOST_ROUNDS = 4
_LARGEST = 12 << 10
_MOST_ACCUSED = 4
ACCUSED_FOR = 3600.0
"""Seconds."""
_TIMEOUT = 10.0
"""Seconds within which a peer's record has to be found."""
_LOOK_EVERY = 1.0


def _sleep(seconds: float) -> bool:
    time.sleep(seconds)
    return False


class _Run(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Pieces that follow each other, of one size but where a batch ends."""

    first: Piece
    times: Annotated[int, Meta(ge=1, le=_MOST_PIECES)]


class Work(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What one member brought to a round."""

    epoch: Annotated[int, Meta(ge=0, le=1 << 53)]
    """In which the round was."""
    batch: Annotated[int, Meta(ge=1, le=1 << 32)]
    """Samples of a batch of the order."""
    runs: Annotated[tuple[_Run, ...], Meta(max_length=_MOST_RUNS)]

    def pieces(self) -> list[Piece]:
        """In the order in which they were computed."""
        return [piece for run in self.runs for piece in islice(_pieces(run.first, self.batch), run.times)]


_Works = Annotated[tuple[Work, ...], Meta(max_length=_MOST_ROUNDS)]


def work_of(epoch: int, pieces: Sequence[Piece], batch: int) -> Work:
    """What a member publishes of its pieces."""
    runs = list[_Run]()
    following: Iterator[Piece] = iter(())
    for piece in pieces:
        if piece == next(following, None):
            runs[-1] = _Run(runs[-1].first, runs[-1].times + 1)
        else:
            runs.append(_Run(piece, 1))
            following = islice(_pieces(piece, batch), 1, None)
    return Work(epoch, batch, tuple(runs[-_MOST_RUNS:]))


def _pieces(first: Piece, batch: int) -> Iterator[Piece]:
    """This one and those after it, each of the same size or the rest of its batch."""
    yield first
    at = first.first + first.count
    while True:
        piece = Piece(first.epoch, at, min(first.count, batch - at % batch), first.portion)
        yield piece
        at += piece.count


def packed(works: Sequence[Work]) -> bytes:
    """The newest of them that fit into a record."""
    for begin in range(max(0, len(works) - _MOST_ROUNDS), len(works)):
        data = msgspec.msgpack.encode(tuple(works[begin:]))
        if len(data) <= _LARGEST and _are_few(works[begin:]):
            return data
    return msgspec.msgpack.encode(())


def works_in(data: object) -> tuple[Work, ...]:
    """As a stranger publishes them; none if that is malformed."""
    if not isinstance(data, bytes) or len(data) > _LARGEST:
        return ()
    try:
        works = msgspec.msgpack.decode(data, type=_Works)
    except (msgspec.MsgspecError, RecursionError):
        return ()
    return works if _are_few(works) else ()


def _are_few(works: Iterable[Work]) -> bool:
    """The pieces of all of them."""
    return sum(run.times for work in works for run in work.runs) <= _MOST_PIECES


class Accusation(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Of a peer that brought other gradients than its samples give, until then, UTC seconds."""

    peer: Annotated[str, Meta(max_length=128)]
    until: float


_Accusations = Annotated[tuple[Accusation, ...], Meta(max_length=_MOST_ACCUSED)]


def accusations_in(data: object) -> tuple[Accusation, ...]:
    """As a stranger tells them; none if that is malformed."""
    try:
        return msgspec.msgpack.decode(data, type=_Accusations) if isinstance(data, bytes) else ()
    except (msgspec.MsgspecError, ValueError, RecursionError):  # ValueError: text that is not UTF-8
        return ()


def _lasting(accusations: Iterable[Accusation]) -> frozenset[str]:
    now = get_dht_time()
    return frozenset(accusation.peer for accusation in accusations if now < accusation.until <= now + 2 * ACCUSED_FOR)


Fits = Callable[[int, Sequence[Piece]], bool]
"""Whether so much of an epoch can be what a peer brought."""


class Found(NamedTuple):
    """What was found of a peer's work."""

    pieces: list[Piece] | None
    """None if the peer says nothing that fits."""
    others: bool
    """Whether any other peer says something: if none does, it is the DHT that is silent."""
    has_refused: bool = False
    """Whether the peer was asked itself, and answered with nothing that fits although it is there."""


class WorkRecords:
    """Of one run, whose rounds take `longest` seconds at most. `batch`: samples of a batch of this peer's order."""

    def __init__(self, dht: DHT, run_id: str, longest: float = 0.0, batch: int = 1) -> None:
        self._batch = batch
        self._dht, self._key, self._lasts = dht, f"{run_id}_work", min(_LONGEST, LASTS + longest)
        self._own_subkey = own_subkey(dht.peer_id)
        self._works: deque[Work] = deque(maxlen=_MOST_ROUNDS)
        self._accused_key = f"{self._key}_accused"
        self._accused: deque[Accusation] = deque(maxlen=_MOST_ACCUSED)

    def publish(self, epoch: int, pieces: Sequence[Piece]) -> None:
        """What this peer brings to the round of an epoch. What it brought to a round that failed here stays: for others
        that round may have succeeded."""
        if not pieces:
            return
        self._works.append(work_of(epoch, pieces, self._batch))
        data, expiration_time = packed(list(self._works)), get_dht_time() + self._lasts
        self._dht.store(self._key, data, expiration_time, subkey=self._own_subkey, return_future=True)
        answer_with(self._dht, self._key, data)

    def wait_for(self, peer: PeerID, slot: bytes, fits: Fits, stop: Callable[[float], bool] = _sleep) -> Found:
        """What the peer at a place of the DHT says that it brought to a round, as soon as it `fits`. If it takes long,
        the peer itself is asked. `stop` waits, and says whether it is no longer wanted."""
        give_up = time.monotonic() + _TIMEOUT
        while True:
            found = self._read(peer, slot, fits)
            if found.pieces is not None or stop(_LOOK_EVERY):
                return found
            if time.monotonic() > give_up:
                return self._ask(peer, fits, found)

    def _ask(self, peer: PeerID, fits: Fits, found: Found) -> Found:
        data = ask(self._dht, self._key, [peer])[peer]
        pieces = _fitting(data, fits)
        return found._replace(pieces=pieces, has_refused=pieces is None and data is not None)

    def accuse(self, peer: str) -> None:
        """Ask the organiser to validate a peer, and tell others who ask that it brings other gradients."""
        now = get_dht_time()
        self._accused.append(Accusation(peer, now + ACCUSED_FOR))
        named = [accusation.peer for accusation in self._accused]
        self._dht.store(self._accused_key, named, now + LASTS, subkey=self._own_subkey, return_future=True)
        answer_with(self._dht, self._accused_key, msgspec.msgpack.encode(tuple(self._accused)))

    @property
    def own_accusations(self) -> frozenset[str]:
        return _lasting(self._accused)

    def ask_for_accusations(self, peers: Sequence[PeerID]) -> dict[str, frozenset[str]]:
        """Whom each of these accuses, as it says itself. Takes some seconds."""
        said = ask(self._dht, self._accused_key, peers)
        return {str(peer): _lasting(accusations_in(data)) for peer, data in said.items()}

    def accused(self) -> frozenset[str]:
        """Peers that others ask to validate. Anybody may ask."""
        records = read_records(self._dht, self._accused_key).values()
        lists = [record.value for record in records if isinstance(record.value, list)]
        return frozenset(peer for named in lists for peer in named[:_MOST_ACCUSED] if isinstance(peer, str))

    def _read(self, peer: PeerID, slot: bytes, fits: Fits) -> Found:
        others = False
        for subkey, record in read_records(self._dht, self._key).items():
            if slot_of(subkey) != slot:
                others |= bool(works_in(record.value))
            elif announced_peer(subkey) == peer and (pieces := _fitting(record.value, fits)) is not None:
                return Found(pieces, others=True)
        return Found(None, others)


def _fitting(data: object, fits: Fits) -> list[Piece] | None:
    return next((pieces for work in works_in(data) if fits(work.epoch, pieces := work.pieces())), None)
