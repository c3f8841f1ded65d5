"""Leaves out whom enough members accuse, while the organiser is silent; see `core.swarm.trust.quorum`."""

import logging
import time
from collections.abc import Callable

from hivemind.p2p import PeerID
from hivemind.utils import get_dht_time

from core.swarm.dht.work_records import ACCUSED_FOR, WorkRecords
from core.swarm.trust.distrust import Distrust
from core.swarm.trust.quorum import Influence, accused_by_quorum

log = logging.getLogger(__name__)

_EVERY = 60.0
"""Seconds between two counts."""


class Accusations:
    """Of one session. It asks each member itself, over a connection that proves who it is.

    Parameters:
        clock: monotonic, in seconds.
    """

    accused: frozenset[str] = frozenset()
    """By any member, as counted last: to be validated before others. Nobody while the organiser is there."""

    def __init__(
        self,
        work: WorkRecords,
        own: PeerID,
        influence: Influence,
        distrust: Distrust,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._work, self._own, self._influence, self._distrust = work, str(own), influence, distrust
        self._clock, self._due_at = clock, 0.0

    def forget(self) -> None:
        """To be called when the organiser says something."""
        self.accused = frozenset()

    def count(self) -> None:
        """To be called again and again while the organiser is silent. May take some seconds."""
        influence, now = self._influence.of_peers, get_dht_time()
        voters = influence.keys() - self._distrust.peers(now) - {self._own}
        if self._clock() < self._due_at or not voters:
            return
        self._due_at = self._clock() + _EVERY
        votes = self._work.ask_for_accusations([PeerID.from_base58(voter) for voter in sorted(voters)])
        self.accused = frozenset().union(*votes.values()) & influence.keys() - {self._own}
        votes[self._own] = self._work.own_accusations
        for peer in accused_by_quorum(votes, influence) - {self._own}:
            log.warning("%s is left out on the word of others", peer)
            self._distrust.ban(peer, "accused_by_others", now + ACCUSED_FOR, now)
