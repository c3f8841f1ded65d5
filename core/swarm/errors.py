"""What can go wrong between peers.

`Isolated`, `LineTooSlow`, `RunTooFast` and `StateUnavailable` reach the volunteer, and `ForeignState` as a remark; the
others only a log.
"""

from core.api.errors import WorldError


class RoundFailed(WorldError):
    """Gradients could not be averaged: nothing was stepped, and the samples wait for the next round of this epoch."""


class Interrupted(RoundFailed):
    """This peer is to stop and gave up its search for a group, or for a state."""


class Isolated(WorldError):
    """No peer and no backbone can be reached: going on would be training alone by accident."""


class StateUnavailable(WorldError):
    """No peer gave a usable state."""


class RunTooFast(WorldError):
    """This peer's line is too slow for the run: what it fetches is outdated when it has arrived."""


class LineTooSlow(WorldError):
    """The others have waited longer for this peer's line than its samples are worth."""


class BadState(WorldError):
    """A state from a peer or from disk must not be used."""


class ForeignState(BadState):
    """A peer offered a state that is not the run's."""
