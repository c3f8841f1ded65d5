"""How much a member may weigh in an average of gradients: as many samples as its own report supports. Pure.

A report is some seconds old when the round begins, so it is extrapolated with the speed in it, and doubled: a computer
that its owner has just left becomes faster. Members of a group that report nothing, or came to few rounds yet, weigh
together at most as much as two average trainers that came to more.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from core.swarm.dht.progress.credible_progress import NEWCOMER, PeerReport

_SLACK = 2.0
"""A peer may have so many times as many samples as its report supports."""

Growing = tuple[float, float]
"""Samples at a moment, and how many more there are each second."""


@dataclass(frozen=True)
class WeightLimits:
    """What members may weigh, from `at` (UTC seconds) on."""

    at: float = 0.0
    supported: Mapping[bytes, Growing] = field(default_factory=dict)
    """Of each peer that has proved itself, or adds no samples."""
    newcomers: Mapping[bytes, Growing] = field(default_factory=dict)
    """Of each of the others that reports something, if it were alone."""
    crowd: Growing = (math.inf, 0.0)
    """Of all members together that have not proved themselves."""

    @property
    def proven(self) -> frozenset[bytes] | None:
        """Who is no newcomer; None if nobody is known."""
        return None if self.crowd[0] == math.inf else frozenset(self.supported)

    def most(self, peer: bytes, members: Collection[bytes], now: float) -> float:
        """What a member of a group may weigh: newcomers share, so another key brings nobody more."""

        def at_present(growing: Growing) -> float:
            return growing[0] + growing[1] * max(0.0, now - self.at)

        if peer in self.supported:
            return at_present(self.supported[peer])
        share = at_present(self.crowd) / max(1, sum(member not in self.supported for member in members))
        return min(share, at_present(self.newcomers.get(peer, self.crowd)))


def weight_limits(
    own: PeerReport,
    known: Iterable[PeerReport],
    newcomers: Iterable[PeerReport],
    *,
    now: float,
    began: float,
    smallest: int,
) -> WeightLimits:
    """The limits in this peer's epoch.

    Args:
        known: reports of those who have proved themselves.
        newcomers: all other reports.
        began: when the epoch began, UTC seconds.
        smallest: samples that a peer adds at once; its report may not have them yet.
    """

    def supported(report: PeerReport) -> Growing:
        speed = report.samples_per_second
        samples = speed * max(0.0, now - began)
        if report.epoch == own.epoch:
            samples = max(samples, report.samples_accumulated + speed * max(0.0, now - report.time))
        return _SLACK * (samples + smallest), _SLACK * speed

    known, newcomers = list(known), list(newcomers)
    trainers = [supported(report) for report in (own, *known) if report.adds_samples]
    # A record names its peer itself: nobody can take weight from another one by a second record.
    by_newcomers = dict[bytes, Growing]()
    for report in newcomers:
        by_newcomers[report.peer_id] = max(supported(report), by_newcomers.get(report.peer_id, (0.0, 0.0)))
    auxiliary = {report.peer_id for report in newcomers if report.is_auxiliary}
    auxiliary -= {report.peer_id for report in newcomers if not report.is_auxiliary}
    limits = dict.fromkeys(auxiliary, (0.0, 0.0)) | {report.peer_id: supported(report) for report in known}
    crowd = _mean(trainers) if known and trainers else (math.inf, 0.0)
    return WeightLimits(now, limits, by_newcomers, crowd)


def _mean(trainers: list[Growing]) -> Growing:
    samples, speeds = zip(*trainers, strict=True)
    return NEWCOMER * sum(samples) / len(trainers), NEWCOMER * sum(speeds) / len(trainers)
