"""Which portion of the data a peer learns from: it begins with one that it has or fetches first, and changes later."""

import logging
import time
from collections.abc import Callable, Sequence
from random import Random
from threading import Thread

from core.api.errors import WorldError
from core.api.project.data import Data
from core.api.project.fields import File
from core.learning.data import sources_of
from core.learning.data.download import StoppedError
from core.system.cache import Cache

log = logging.getLogger(__name__)

EPOCHS = 32
"""That a peer learns from a portion, at least: fetching one costs more than an epoch."""
SECONDS = 3600.0
"""Likewise: where epochs are short, a volunteer would fetch many GB a day."""


class Rotation:
    """Of one session, in its cache.

    Parameters:
        fetch: fetches files into the cache, in the background.
        yielding: called between pieces of work that takes long; waits while the session is on hold, and raises
            StoppedError when it has to leave.
    """

    def __init__(
        self,
        data: Data,
        cache: Cache,
        fetch: Callable[[Sequence[File]], object],
        chance: Random,
        *,
        yielding: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._data, self._cache, self._fetch, self._yielding, self._clock = data, cache, fetch, yielding, clock
        self._portions, self._sources = data.portions, sources_of(data)
        self.paths = [cache.path(shard) for shard in data.shards]
        """Of all shards, also of those that were not fetched."""
        here = [number for number in range(len(self._portions)) if self.has(number)]
        self.number = chance.choice(here or range(len(self._portions)))
        self._since: int | None = None
        self._began = clock()
        self._asked: Thread | None = None

    def has(self, number: int) -> bool:
        """Whether all shards of a portion are here and can be read at once."""
        return all(self._sources[shard].is_ready(self.paths[shard]) for shard in self.shards(number))

    def shards(self, number: int) -> tuple[int, ...]:
        """Those of a portion."""
        return self._portions[number % len(self._portions)]

    def make_ready(self, number: int) -> None:
        """Prepare the shards of a portion, which were fetched.

        Raises:
            StoppedError: the session has to leave.
            WorldError: one cannot be read, or is too large for the cache.
        """
        for shard in self.shards(number):
            self._sources[shard].make_ready(self.paths[shard], self._cache.make_room, self._yielding)

    def at(self, epoch: int) -> int:
        """The portion of an epoch that begins. The next one is fetched while one is in use; nobody waits for it."""
        if self._since is None or epoch < self._since:
            self._since = epoch
        if len(self._portions) > 1:
            # 1 when it was learned from for as long as it should be.
            age = min((epoch - self._since) / EPOCHS, (self._clock() - self._began) / SECONDS)
            if self._asked is None and age >= 1 / 2:
                self._asked = Thread(target=self._fetch_next, name="next shards", daemon=True)
                self._asked.start()
            elif self._asked is not None and age >= 1 and not self._asked.is_alive():
                self._move_on(epoch)
        return self.number

    @property
    def _next(self) -> int:
        return (self.number + 1) % len(self._portions)

    def _move_on(self, epoch: int) -> None:
        self._asked, self._since, self._began, before = None, epoch, self._clock(), self.number
        if self.has(self._next):
            self.number = self._next
            kept = {file.sha256 for file in self._files(self.number)}
            self._cache.release(file for file in self._files(before) if file.sha256 not in kept)
            log.info("epoch %d: now learning from portion %d of the data", epoch, self.number)

    def _fetch_next(self) -> None:
        try:
            self._fetch(self._files(self._next))
            self.make_ready(self._next)
        except StoppedError:
            pass
        except WorldError as error:
            # The portion that is here is learned from until a later try succeeds.
            log.warning("the next portion of the data is not here: %s", error)

    def _files(self, number: int) -> list[File]:
        return [self._data.shards[shard] for shard in self.shards(number)]
