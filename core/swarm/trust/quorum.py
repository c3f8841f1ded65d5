"""Who is left out on the word of others, while no organiser can be asked. Pure.

A vote is what a peer says that it found itself: another one's gradients are not those of its samples, twice in a row.
Votes weigh as much as the samples that their peer lately brought to the rounds of this one, so a hundred keys of one
computer weigh as much as that computer. As long as liars bring no more than a third of all samples, those that they
accuse are not left out; whom more than a third accuses, an honest peer has found, too.
"""

from collections.abc import Collection, Mapping

_KEPT = 0.9
"""Of what was brought before, at each round."""
_MOST = 64
"""Peers whose votes count: those that brought most."""


class Influence:
    """Samples that each peer brought to the latest rounds."""

    def __init__(self) -> None:
        self._samples: Mapping[str, float] = {}

    def add_round(self, counted: Mapping[str, float]) -> None:
        """What each member brought, as far as it counted."""
        peers = self._samples.keys() | counted.keys()
        samples = {peer: _KEPT * self._samples.get(peer, 0.0) + counted.get(peer, 0.0) for peer in peers}
        largest = sorted(samples, key=samples.__getitem__, reverse=True)[:_MOST]
        self._samples = {peer: samples[peer] for peer in largest if samples[peer] > 0}

    @property
    def of_peers(self) -> Mapping[str, float]:
        return self._samples


def accused_by_quorum(votes: Mapping[str, Collection[str]], influence: Mapping[str, float]) -> frozenset[str]:
    """Whom so many accuse that an honest one is among them.

    Args:
        votes: the peers that each accuses.
        influence: of each peer, the accused ones among them.
    """
    needed = sum(influence.values()) / 3

    def against(accused: str) -> float:
        return sum(weight for peer, weight in influence.items() if peer != accused and accused in votes.get(peer, ()))

    return frozenset(peer for named in votes.values() for peer in named if against(peer) > needed)
