"""Whether the project's backbone is in reach: asked seldom, and believed for a while."""

import time
from collections.abc import Callable

_FRESH = 5.0
"""Seconds before it is looked for again."""
_LASTS = 30.0
"""Seconds for which having seen it counts: a daemon that is slow to answer is not a network that is gone."""


class Company:
    """`reachable` asks the daemon, which may take seconds."""

    def __init__(self, reachable: Callable[[], bool], clock: Callable[[], float] = time.monotonic) -> None:
        self._reachable, self._clock = reachable, clock
        self._seen_at = float("-inf")

    def is_there(self) -> bool:
        now = self._clock()
        if now - self._seen_at > _FRESH and self._reachable():
            self._seen_at = now
        return now - self._seen_at <= _LASTS
