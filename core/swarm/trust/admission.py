"""How many newcomers a leader takes into its group: places are few, and keys cost nothing. Pure."""

from collections.abc import Collection, Mapping

PER_ADDRESS = 4
"""Newcomers from one IP address in one group, at most: a household has no more, and those of a laboratory have to wait
for each other during their first updates."""


def admits(
    peer: bytes, address: str, members: Mapping[bytes, str], proven: Collection[bytes] | None, places: int | None
) -> bool:
    """Whether a leader takes a peer that asks.

    Args:
        members: those that it has taken already, with their addresses.
        proven: peers that are no newcomers; None if nobody is known yet.
        places: of a group that cannot hold all who could come; None if it can.
    """
    if proven is None or peer in proven:
        return True
    newcomers = [other for member, other in members.items() if member not in proven]
    has_place = places is None or len(newcomers) < places // 2
    return has_place and newcomers.count(address) < PER_ADDRESS
