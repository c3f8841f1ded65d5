"""How much a volunteer's line carries, learned from what it has carried.

TCP BBR (Cardwell et al. 2016, section "Characterizing the bottleneck") asks of each connection what its path delivers;
an averaging round asks it of the line, which all connections and all programs of a computer share. The kernel says for
how long something that was sent had not arrived yet. While that is so on all connections that carry much, the line is
what they wait for, and what it carries then is all that it can. At other times it can carry at least that much.

On the way in, a receiver cannot tell its own line from the lines of those who send: packets queue up here or there.
But members of a group tell each other what their lines carry. A way in that seems to carry less than the slowest of
them says is this peer's own.
"""

import math
from collections import deque
from collections.abc import Mapping
from statistics import fmean

from core.swarm.traffic.tcp_info import Connection

NOMINAL = 12_500_000.0
"""Bytes per second (100 Mbit/s) that a line is taken for of which nothing is known. hivemind takes one of unknown speed
to be as fast as the mean of the others, and then a single slow peer would count as much as all others."""
_CARRIES_MUCH = 0.1
"""Share of what all connections have sent."""
_BUSY = 0.9
"""Share of the time between two readings."""
_QUEUE = 8
"""Packets on the way from which a connection waits for the line, and not just for an answer to a short message."""
_WAITS = 0.02
"""Seconds in a queue from which a connection waits for a line."""
_EXPLAINED = 0.8
"""Share of the slowest other line from which the way in may seem slow because of that one."""
_READINGS = 5
"""Of which the mean counts, without the largest and the smallest: a second of a busy line."""
_LATELY, _COMPARED = 2.0, 10.0
"""Seconds in which connections must have been busy, and in which they have carried much. A peer with a slow line takes
all of the time, also when the others have got all; while this one sent to them, its line showed that it carries more.
"""
IDLE = 10_000
"""Bytes in a reading below which a peer does not average."""
_TRUST = 0.05
"""Share of a rise that one reading may bring about."""
_LEAST = 1000.0
"""Bytes per second. A line that is down for a moment carries nothing, and would never be tried again."""
_DOUBLES_IN = 120.0
"""Seconds of sending, without waiting for the line, after which it is taken for twice as fast."""


def nominal_bandwidth() -> float:
    """Of a line of which nothing is ever learned."""
    return NOMINAL


class Readings:
    """Of what this peer has sent since it began to."""

    def __init__(self) -> None:
        self._kept = deque[tuple[float, Mapping[bytes, Connection]]]()

    def add(self, now: float, sent: int, connections: Mapping[bytes, Connection]) -> bool:
        """A reading, `sent` bytes after the one before; whether this peer has waited for its line until now."""
        kept = self._kept
        kept.append((now, connections))
        while kept[0][0] < now - _COMPARED:
            kept.popleft()
        at, before = next(reading for reading in kept if reading[0] >= now - _LATELY)
        limited = is_limited(before, connections, now - at, since=kept[0][1])
        if sent < IDLE:
            kept.clear()
            kept.append((now, connections))
        return limited


def delivered(before: Mapping[bytes, Connection], after: Mapping[bytes, Connection]) -> int:
    """Bytes that have arrived between two readings. What is sent comes in bursts, and some of it is lost on the way:
    with that, peers with equal lines took theirs for 8 to 13 Mbit/s, and the one with the largest share was late."""
    return sum(now.delivered - before[cookie].delivered for cookie, now in after.items() if cookie in before)


def is_limited(
    before: Mapping[bytes, Connection],
    after: Mapping[bytes, Connection],
    seconds: float,
    since: Mapping[bytes, Connection] | None = None,
) -> bool:
    """Whether the line was what this peer's connections waited for between two readings.

    Args:
        since: an earlier reading; those connections count that have carried much from then on.
    """
    first = before if since is None else since
    sent = {cookie: now.payload - first[cookie].payload for cookie, now in after.items() if cookie in first}
    much = [cookie for cookie, payload in sent.items() if payload > _CARRIES_MUCH * sum(sent.values())]
    is_busy = all(after[cookie].busy - before[cookie].busy >= _BUSY * seconds for cookie in much)
    return bool(much) and is_busy and sum(after[cookie].in_flight for cookie in much) >= _QUEUE


def is_limited_in(before: Mapping[bytes, Connection], after: Mapping[bytes, Connection]) -> bool:
    """Whether all waited for a line, this peer's or their own, who sent to it between two readings."""
    pairs = [(before[cookie], connection) for cookie, connection in after.items() if cookie in before]
    came = sum(now.received - then.received for then, now in pairs)
    much = [now for then, now in pairs if now.received - then.received > _CARRIES_MUCH * came]
    return bool(much) and all(now.queued >= _WAITS for now in much)


class DownlinkBandwidth:
    """What the line carries in, as far as the lines of others do not explain it."""

    def __init__(self) -> None:
        self.value = math.inf
        """Bytes per second; infinite unless this line is the one that the group waits for."""
        self._estimate = BottleneckBandwidth()
        self._known = math.inf
        """Before the present round."""

    def add(self, received: int, seconds: float, *, is_limited: bool) -> None:
        """A reading; see `is_limited_in`."""
        self._estimate.add(received, seconds, is_limited=is_limited)

    def add_round(self, slowest: float) -> None:
        """A round has ended, and so much the slowest other line carries by what its peer said when it began.

        It could only know since the round before; so what seemed slow in that one is compared.
        """
        self.value = self._estimate.value if self._known < _EXPLAINED * slowest else math.inf
        self._known = self._estimate.value


class BottleneckBandwidth:
    """An estimate that follows a slower line at once, and trusts a faster one slowly."""

    def __init__(self) -> None:
        self.value = NOMINAL
        """Bytes per second, headers included."""
        self._limited = deque[float](maxlen=_READINGS)

    def add(self, arrived: int, seconds: float, *, is_limited: bool) -> None:
        """A reading: what arrived in this time, and whether all waited for the line."""
        rate = arrived / seconds
        if is_limited:
            self._limited.append(rate)
            if len(self._limited) > _READINGS // 2:
                self._follow(fmean(sorted(self._limited)[1:-1]))
        else:
            self._follow(max(rate, self.value))
            busy = min(1.0, rate / self.value) * seconds
            self.value = max(self.value, min(NOMINAL, self.value * (1 + busy / _DOUBLES_IN)))

    def _follow(self, rate: float) -> None:
        self.value = max(_LEAST, min(rate, self.value + _TRUST * max(0.0, rate - self.value)))
