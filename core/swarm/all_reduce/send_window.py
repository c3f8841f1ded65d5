"""Which part of the vector a peer may send next: in the same order as all others, and not far ahead of the averages.

A reducer can answer a part only when all members have sent it. If each member sends as fast as it can, two members are
soon seconds apart, and their lines are idle in one direction while the other is full. So a peer keeps its progress
equal towards all reducers, and waits when too many of its parts are on the way without an average (a sliding window as
in TCP, RFC 9293 section 3.8). All members follow the same order, so no other part ever holds up the oldest one.
"""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress

_LASTS = 0.2
"""Seconds from a part to its average, as planned with: half of it the distance to far peers, the rest their queues."""
_SMALLEST, _LARGEST = 1 << 19, 1 << 20
"""Bytes. With more, pings waited behind parts on lines of 10 Mbit/s for so long that members seemed lost; and a line
without a ceiling counts as one of 100 Mbit/s."""


def window_size(bandwidths: Iterable[float | None]) -> int:
    """Bytes on the way that keep a group busy: all of it goes on as fast as the slowest member sends.

    Args:
        bandwidths: bytes per second of the members, as they say; what they say changes little.
    """
    slowest = min((bandwidth for bandwidth in bandwidths if bandwidth), default=0.0)
    return int(min(_LARGEST, max(_SMALLEST, slowest * _LASTS)))


class SendWindow:
    """Of one round.

    Args:
        counts: how many parts each reducer is to get; 0 for this peer itself and for those that reduce nothing.
        size: parts that may be on the way; each reducer may have one all the same.
        patience: seconds after which a part goes although it is not its turn. A member that stops sending holds up the
            others, and a reducer would count all of them as lost, because they send nothing either.
    """

    def __init__(self, counts: Sequence[int], size: int, patience: float | None = None) -> None:
        self._counts, self._size, self._patience = list(counts), size, patience
        self._sent = [0] * len(counts)
        self._answered = [0] * len(counts)
        self.failed = asyncio.Event()
        """Set when a reducer has ended before it has answered all its parts."""
        self._has_changed = asyncio.Event()

    def may_send(self, reducer: int) -> bool:
        """Whether it is the turn of the next part for this reducer."""
        on_the_way = self._sent[reducer] - self._answered[reducer]
        if on_the_way and sum(self._sent) - sum(self._answered) >= self._size:
            return False
        progress = self._progress(reducer)
        return all(progress <= self._progress(other) for other in range(len(self._counts)) if self._is_sending(other))

    async def turn(self, reducer: int) -> None:
        """Return when the next part may be sent to this reducer, which counts as sent then."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                while not (self.failed.is_set() or self.may_send(reducer)):
                    self._has_changed.clear()
                    await self._has_changed.wait()
        self.add_sent(reducer)

    def add_sent(self, reducer: int) -> None:
        """A part was sent whose turn it was."""
        self._sent[reducer] += 1
        self._has_changed.set()

    def add_answer(self, reducer: int) -> None:
        """The average of a part came back."""
        self._answered[reducer] += 1
        self._has_changed.set()

    def end(self, reducer: int) -> bool:
        """Nothing more comes from this reducer; whether it has answered all its parts.

        If not, the round has failed, and no part waits.
        """
        is_complete = self._answered[reducer] >= self._counts[reducer]
        if not is_complete:
            self.failed.set()
        self._has_changed.set()
        return is_complete

    def _is_sending(self, reducer: int) -> bool:
        return self._sent[reducer] < self._counts[reducer]

    def _progress(self, reducer: int) -> float:
        """When the middle of the next part is due, as a share of the round."""
        return (self._sent[reducer] + 0.5) / self._counts[reducer]
