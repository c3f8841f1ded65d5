"""Which samples each peer brought to its latest rounds, in the DHT, signed with the session's key."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Annotated

import msgspec
from hivemind import DHT
from hivemind.utils import get_dht_time
from msgspec import Meta

from core.learning.order import Piece
from core.swarm.dht.contributions import slot_of
from core.swarm.dht.records import own_subkey, read_records

_LASTS = 300.0
_MOST_RUNS = 2048
_MOST_PIECES = 1 << 16
_MOST_ROUNDS = 4
_LARGEST = 12 << 10
_MOST_ACCUSED = 4
_PATIENCE = 10.0
"""Seconds within which a peer's record has to be found."""
_LOOK_EVERY = 1.0


def _sleep(seconds: float) -> bool:
    time.sleep(seconds)
    return False


class _Run(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Pieces of one size that follow each other."""

    first: Piece
    times: Annotated[int, Meta(ge=1, le=_MOST_PIECES)]


class Work(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What one member brought to a round."""

    epoch: Annotated[int, Meta(ge=0, le=1 << 53)]
    """In which the round was."""
    runs: Annotated[tuple[_Run, ...], Meta(max_length=_MOST_RUNS)]

    @property
    def is_bounded(self) -> bool:
        return sum(run.times for run in self.runs) <= _MOST_PIECES

    def pieces(self) -> list[Piece]:
        """In the order in which they were computed."""
        return [
            Piece(run.first.epoch, run.first.first + number * run.first.count, run.first.count)
            for run in self.runs
            for number in range(run.times)
        ]


_Works = Annotated[tuple[Work, ...], Meta(max_length=_MOST_ROUNDS)]


def work_of(epoch: int, pieces: Sequence[Piece]) -> Work:
    """What a member publishes of its pieces."""
    runs = list[_Run]()
    for piece in pieces:
        last = runs[-1] if runs else None
        if last is not None and piece == _next(last):
            runs[-1] = _Run(last.first, last.times + 1)
        else:
            runs.append(_Run(piece, 1))
    return Work(epoch, tuple(runs[-_MOST_RUNS:]))


def _next(run: _Run) -> Piece:
    return Piece(run.first.epoch, run.first.first + run.times * run.first.count, run.first.count)


def packed(works: Sequence[Work]) -> bytes:
    """The newest of them that fit into a record."""
    for begin in range(max(0, len(works) - _MOST_ROUNDS), len(works)):
        data = msgspec.msgpack.encode(tuple(works[begin:]))
        if len(data) <= _LARGEST:
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
    return tuple(work for work in works if work.is_bounded)


class WorkRecords:
    """Of one run."""

    def __init__(self, dht: DHT, run_id: str) -> None:
        self._dht, self._key = dht, f"{run_id}_work"
        self._own_subkey = own_subkey(dht.peer_id)
        self._works: deque[Work] = deque(maxlen=_MOST_ROUNDS)
        self._accused: deque[str] = deque(maxlen=_MOST_ACCUSED)

    def publish(self, epoch: int, pieces: Sequence[Piece]) -> None:
        """What this peer brings to the round of an epoch, instead of what it brought to one that has failed."""
        if not pieces:
            return
        while self._works and self._works[-1].epoch >= epoch:
            self._works.pop()
        self._works.append(work_of(epoch, pieces))
        data, expiration_time = packed(list(self._works)), get_dht_time() + _LASTS
        self._dht.store(self._key, data, expiration_time, subkey=self._own_subkey, return_future=True)

    def wait_for(self, slot: bytes, epoch: int, stop: Callable[[float], bool] = _sleep) -> list[Piece] | None:
        """The same once it is found, for some seconds. `stop` waits, and says whether it is no longer wanted."""
        give_up = time.monotonic() + _PATIENCE
        while True:
            pieces = self.read(slot, epoch)
            if pieces is not None or time.monotonic() > give_up or stop(_LOOK_EVERY):
                return pieces

    def accuse(self, peer: str) -> None:
        """Ask the organiser to validate a peer."""
        self._accused.append(peer)
        expiration_time = get_dht_time() + _LASTS
        accused = list(self._accused)
        self._dht.store(f"{self._key}_accused", accused, expiration_time, subkey=self._own_subkey, return_future=True)

    def accused(self) -> frozenset[str]:
        """Peers that others ask to validate. Anybody may ask."""
        records = read_records(self._dht, f"{self._key}_accused").values()
        lists = [record.value for record in records if isinstance(record.value, list)]
        return frozenset(peer for named in lists for peer in named[:_MOST_ACCUSED] if isinstance(peer, str))

    def read(self, slot: bytes, epoch: int) -> list[Piece] | None:
        """What the peer at a place of the DHT brought to the round of an epoch; None if it says nothing."""
        for subkey, record in read_records(self._dht, self._key).items():
            if slot_of(subkey) == slot:
                return next((work.pieces() for work in works_in(record.value) if work.epoch == epoch), None)
        return None
