"""What bandwidth a project needs, and how hivemind is set up so that a slow link keeps its time limits. Pure.

What all peers of a group must agree on (the size of parts, time limits) depends on the manifest, the model and what
all have claimed alone: hivemind cuts tensors into parts on either side and compares them by number.
"""

from collections.abc import Collection

from core.api.project.manifest import Averaging
from core.swarm.traffic.link import OVERHEAD

BYTES_PER_VALUE = {"none": 4, "float16": 2, "uniform8bit": 1}
"""Of one value on the wire, by compression."""
_USABLE = 0.8
"""Share of a round's time limit that is planned with."""
_SMALLEST_PART, _LARGEST_PART = 1 << 14, 1 << 17
_LARGEST_BETWEEN_FAST_LINES = 1 << 18
_WORTH = 0.011
"""Seconds for which a part keeps the slowest line busy where lines are fast: there, the processors take longer for a
message than the line for its bytes."""
_QUEUE = 1.0
"""Seconds for which a part to each member of a group may keep its slowest line busy. Pings wait behind them, and who
does not answer for three seconds is taken to be lost."""


def min_bandwidth(parameters: int, averaging: Averaging) -> int:
    """Bytes per second, in either direction, below which an averaging round cannot end in time.

    A peer that only sends and fetches (in client mode, or with no share of the reducing) sends the whole vector first
    and then fetches the average, so each has half of the time.
    """
    once = parameters * BYTES_PER_VALUE[averaging.compression] * (1 + OVERHEAD)
    return round(2 * once / (_USABLE * averaging.averaging_timeout))


def part_size(parameters: int, averaging: Averaging) -> int:
    """Bytes of a part: about a second of the slowest link, so that the parts of many peers come in turns."""
    second = min_bandwidth(parameters, averaging)
    return min(_LARGEST_PART, max(_SMALLEST_PART, 1 << second.bit_length() - 1))


def part_size_in_group(usual: int, bandwidths: Collection[float | None]) -> int:
    """Bytes of a part: less than usual in a large group with slow lines, each of which carries parts for all members;
    more between fast ones.

    Args:
        bandwidths: bytes per second of the members, as they say; 0 and None say nothing, and nobody counts as slower
            than a second for a usual part.
    """
    known = [bandwidth for bandwidth in bandwidths if bandwidth]
    if not known or len(bandwidths) < 2:
        return usual
    slowest = max(usual, min(known))
    most = int(min(slowest * _QUEUE / (len(bandwidths) - 1), max(usual, slowest * _WORTH)))
    return min(_LARGEST_BETWEEN_FAST_LINES, max(_SMALLEST_PART, 1 << most.bit_length() - 1))


def part_timeout(averaging: Averaging) -> float:
    """Seconds without a part after which a peer counts as failed. One that is cut off is noticed at once without it."""
    return max(15.0, averaging.matchmaking_time, averaging.averaging_timeout / 2)


def state_timeout(size: int, ceiling: int) -> float:
    """Seconds that a state of `size` bytes may take under this side's ceiling (bytes per second, 0 for none); the other
    side's bandwidth is not known."""
    return 120.0 + (2 * size / ceiling if ceiling else 0.0)
