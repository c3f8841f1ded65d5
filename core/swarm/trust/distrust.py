"""Which peers this one takes into no group, and for how long: the one place where that is decided. Pure.

Assumed: nobody but the peer itself can send under its id (libp2p's keys), and an honest program never sends what cannot
be averaged. So broken data counts at once. A line may be lost, so one that falls silent in a round counts only the
second time, if it was in no round with this peer in between; and not if nobody else of the group answers either,
because then this peer's own line is lost. A new key costs nothing, so who makes one is taken again.
Not detected: a member that fails one other member only. That one ends the round for a third, who can count it as
silent.
"""

import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from core.api.message import Message

Offence = Literal[
    "values_out_of_range",
    "part_malformed",
    "parts_too_many",
    "weight_invalid",
    "average_wrong",
    "claim_malformed",
    "fell_silent",
    "gradient_wrong",
    "banned_by_organiser",
    "accused_by_others",
]

_FIRST = 60.0
"""Seconds; each further time lasts twice as long."""
_LONGEST = 86_400.0
_SILENCES = 2
"""Rounds in a row in which a member falls silent until it is left out."""
_MOST = 4096
"""Peers remembered: keys cost nothing, and memory does."""


@dataclass(frozen=True)
class Drop:
    """A peer that this one has stopped taking."""

    peer: str
    offence: Offence
    at: float
    """UTC seconds."""
    seconds: float

    @property
    def is_repeated(self) -> bool:
        """Whether it was left out before."""
        return self.seconds > _FIRST

    @property
    def message(self) -> Message:
        """For logs and people."""
        reason = Message(self.offence)
        return Message("peer_dropped", {"peer": self.peer, "reason": reason, "seconds": self.seconds})


class Distrust:
    """What one session remembers of the others. Thread-safe; times are UTC seconds.

    Parameters:
        on_drop: called with each peer that is no longer taken.
        spared: those whose silence does not count, such as the run's backbone: without it there is no run.
    """

    def __init__(self, on_drop: Callable[[Drop], None] = lambda _: None, spared: Collection[str] = ()) -> None:
        self._on_drop, self._spared = on_drop, frozenset(spared)
        self._until: dict[str, tuple[float, float]] = {}
        """When each is taken again, and how long it was not."""
        self._silent: set[str] = set()
        """Those of them that did nothing else than fall silent the last time."""
        self._silences: dict[str, int] = {}
        self._lock = threading.Lock()

    def add(self, peer: str, offence: Offence, now: float) -> None:
        """The peer did this; what it does while it is left out changes nothing."""
        with self._lock:
            drop = self._dropped(peer, offence, now)
        if drop is not None:
            self._on_drop(drop)

    def ban(self, peer: str, offence: Offence, until: float, now: float) -> None:
        """Take the peer into no group until then, whatever it did before."""
        with self._lock:
            known, lasted = self._until.get(peer, (0.0, _FIRST / 2))
            self._until[peer] = max(known, until), lasted
            self._silent.discard(peer)
            _forget_oldest(self._until)
        if known < until and now < until:
            self._on_drop(Drop(peer, offence, now, until - now))

    def add_round(self, peers: Iterable[str]) -> None:
        """These have averaged together with this peer."""
        with self._lock:
            for peer in peers:
                self._silences.pop(peer, None)

    def peers(self, now: float) -> frozenset[str]:
        """Who is not taken at the moment."""
        with self._lock:
            return frozenset(peer for peer, (until, _) in self._until.items() if until > now)

    def liars(self, now: float) -> frozenset[str]:
        """Who of them is not believed either. What comes from one that has fallen silent may be counted: where another
        member has taken it into a group, to leave it out would spoil the average, and look like a lie to an audit."""
        with self._lock:
            return frozenset(peer for peer, (until, _) in self._until.items() if until > now) - self._silent

    def _dropped(self, peer: str, offence: Offence, now: float) -> Drop | None:
        until, lasted = self._until.get(peer, (0.0, _FIRST / 2))
        if until > now or (offence == "fell_silent" and not self._counts_silence(peer)):
            return None
        lasts = min(_LONGEST, 2 * lasted)
        self._silences.pop(peer, None)
        self._until[peer] = now + lasts, lasts
        _forget_oldest(self._until)
        self._silent = (
            self._silent | {peer} if offence == "fell_silent" else self._silent - {peer}
        ) & self._until.keys()
        return Drop(peer, offence, now, lasts)

    def _counts_silence(self, peer: str) -> bool:
        if peer in self._spared:
            return False
        self._silences[peer] = self._silences.get(peer, 0) + 1
        _forget_oldest(self._silences)
        return self._silences.get(peer, 0) >= _SILENCES


def _forget_oldest(known: dict[str, object] | dict[str, int] | dict[str, tuple[float, float]]) -> None:
    while len(known) > _MOST:
        del known[next(iter(known))]
