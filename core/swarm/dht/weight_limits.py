"""How much a member may weigh in an average of gradients: as many samples as its own report supports. Pure.

A report is some seconds old when the round begins, so it is extrapolated with the speed in it, and doubled: a computer
that its owner has just left becomes faster. A peer that reports nothing, or was in no round yet, weighs at most as much
as two average trainers that were.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from core.swarm.dht.credible_progress import NEWCOMER, PeerReport

_SLACK = 2.0
"""A peer may have so many times as many samples as its report supports."""

Growing = tuple[float, float]
"""Samples at a moment, and how many more there are each second."""


@dataclass(frozen=True)
class WeightLimits:
    """What members may weigh, from `at` (UTC seconds) on."""

    at: float = 0.0
    supported: Mapping[bytes, Growing] = field(default_factory=dict)
    others: Growing = (math.inf, 0.0)
    """Of all peers that have no report."""

    def most(self, peer: bytes, now: float) -> float:
        samples, speed = self.supported.get(peer, self.others)
        return samples + speed * max(0.0, now - self.at)


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
        known: reports of those who made the last update with this peer.
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

    known = list(known)
    trainers = [supported(report) for report in (own, *known) if report.adds_samples]
    others = _mean(trainers) if known and trainers else (math.inf, 0.0)
    limits = {report.peer_id: supported(report) for report in known}
    for report in newcomers:
        # A record names its peer itself: nobody can take weight from another one by a second record.
        limits[report.peer_id] = max(min(supported(report), others), limits.get(report.peer_id, (0.0, 0.0)))
    return WeightLimits(now, limits, others)


def _mean(trainers: list[Growing]) -> Growing:
    samples, speeds = zip(*trainers, strict=True)
    return NEWCOMER * sum(samples) / len(trainers), NEWCOMER * sum(speeds) / len(trainers)
