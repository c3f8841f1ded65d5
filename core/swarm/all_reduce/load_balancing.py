"""How much of the vector each peer of a group reduces, so that the slowest of them is ready as early as can be."""

import math
from collections.abc import Sequence

_MOST = 0.55
"""Of the vector: the largest share that a claim alone gives. Half, and what two equal lines seem to differ by."""
_LONGER = 1.125
_LITTLE_ROOM = 0.1
"""Of the largest room."""
_LITTLE = 1.03
"""By how much a round may last longer with fewer reducers: bandwidths are estimates, and a slow peer that reduces
little carries twice as much of it."""


def shares(bandwidths: Sequence[float]) -> list[float]:
    """Each peer's share of the vector, the sum being 1.

    Of n peers, each sends the rest of its vector, 1 - share, to the other reducers, and n - 1 averages of its share; it
    receives as much. So do peers without samples that want the average; those that cannot be called have no share.
    The optimum of DeDLOC's linear program (Diskin et al. 2021, section 3.2), which minimises the largest
    (1 + (n - 2) * share) / bandwidth. Every peer with a share is ready at the same moment t, so its share is
    (t * bandwidth - 1) / (n - 2); those for which that is negative have none. hivemind asks SciPy's interior-point
    method, whose last digits depend on the machine, while all peers of a group must come to the same answer.

    Args:
        bandwidths: of all peers of the group, in any one unit; 0 for those that cannot be reached.

    Raises:
        ValueError: all of them are 0.
    """
    group = len(bandwidths)
    fastest = sorted((bandwidth for bandwidth in bandwidths if bandwidth > 0), reverse=True)
    if not fastest:
        raise ValueError("nobody in the group can reduce")
    if group <= 2:
        # Two peers carry the same load however they share.
        return [float(bandwidth > 0) / len(fastest) for bandwidth in bandwidths]
    # As parts of the largest: of numbers near the smallest that there are, sums and quotients would overflow.
    bandwidths = [bandwidth / fastest[0] for bandwidth in bandwidths]
    fastest = [bandwidth / fastest[0] for bandwidth in fastest]
    # With too few or too many reducers the time comes out too long, so the shortest is that of the right number.
    # Not sum(): Python 3.12 rounds it otherwise, and all peers must come to the same last digit.
    ready = min((group - 2 + count) / math.fsum(fastest[:count]) for count in range(1, len(fastest) + 1))
    return [max(0.0, ready * bandwidth - 1) / (group - 2) for bandwidth in bandwidths]


def by_few(bandwidths: Sequence[float]) -> list[float]:
    """The shares of as few reducers as make the round last little longer."""
    best = shares(bandwidths)
    for least in sorted(set(bandwidths), reverse=True):
        few = shares([bandwidth if bandwidth >= least else 0.0 for bandwidth in bandwidths])
        if _ready(few, bandwidths) <= _LITTLE * _ready(best, bandwidths):
            return few
    return best


def spread(shares: Sequence[float], bandwidths: Sequence[float]) -> list[float]:
    """The shares without one that is larger than `_MOST`, as far as that makes the round an eighth longer at most.

    Bandwidths are claims. By the optimum, the single claim of a bandwidth as large as that of all others together gets
    the whole vector, and its peer all averages into its hand.
    """
    group, largest = len(shares), max(shares)
    top = list(shares).index(largest)
    if group <= 2 or largest <= _MOST:
        return list(shares)
    ready, wanted = _ready(shares, bandwidths), largest - _MOST
    rooms = _rooms(shares, bandwidths, top, ready)
    if math.fsum(rooms) < wanted:
        rooms = _rooms(shares, bandwidths, top, _LONGER * ready)
    room = math.fsum(rooms)
    given = min(wanted, room)
    return [
        share - given if peer == top else share + (given * rooms[peer] / room if room else 0.0)
        for peer, share in enumerate(shares)
    ]


def _rooms(shares: Sequence[float], bandwidths: Sequence[float], top: int, until: float) -> list[float]:
    """What each but `top` could reduce more and be ready then; nothing of those that could little."""
    rooms = [
        0.0 if peer == top else max(0.0, (until * bandwidth - 1) / (len(shares) - 2) - share)
        for peer, (share, bandwidth) in enumerate(zip(shares, bandwidths, strict=True))
    ]
    return [room if room >= _LITTLE_ROOM * max(rooms) else 0.0 for room in rooms]


def _ready(shares: Sequence[float], bandwidths: Sequence[float]) -> float:
    """When the last one is that can be called."""
    others = len(shares) - 2
    return max((1 + others * share) / line for share, line in zip(shares, bandwidths, strict=True) if line > 0)


def load_balance(size: int, bandwidths: Sequence[float | None], smallest: int = 0) -> tuple[int, ...]:
    """As hivemind's `load_balance_peers`: how many of `size` values each peer reduces.

    Args:
        bandwidths: None for a peer that reports none: it counts as the mean of the others.
        smallest: a share of fewer values is given to others.
    """
    known = [bandwidth for bandwidth in bandwidths if bandwidth]
    mean = math.fsum(known) / len(known) if known else 1.0
    counted = [mean if bandwidth is None else bandwidth for bandwidth in bandwidths]
    wanted = spread(by_few(counted), counted)
    enough = [share if share * size >= smallest else 0.0 for share in wanted]
    return _whole(size, enough if any(enough) else wanted)


def _whole(size: int, parts: Sequence[float]) -> tuple[int, ...]:
    """Whole numbers in proportion to `parts`; what rounding leaves goes to the largest."""
    total = math.fsum(parts)
    counts = [int(size * part / total) for part in parts]
    counts[parts.index(max(parts))] += size - sum(counts)
    return tuple(counts)
