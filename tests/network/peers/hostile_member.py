"""A hostile volunteer of a small run: once a file is there, its part in each round is an attack.

Usage: hostile_member.py WHEN ATTACK ARGUMENT ...; the arguments are those of `tests.network.peers.churn_peer`.
"""

import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.swarm.all_reduce.runner import AtomicAllReduce
from core.swarm.traffic.link import Link
from tests.network.peers import churn_peer
from tests.swarm.averaging.attackers import ATTACKS

Changed = Callable[[Any], Any]


@dataclass(frozen=True)
class Member:
    """What it makes of what it sends, of the averages that it answers with, and of the pace of its line."""

    sends: str = ""
    answers: str = ""
    is_two_faced: bool = False
    """It answers one member so, always the same one."""
    bandwidth: float | None = None


MEMBERS = {
    "not finite": Member(sends="not finite"),
    "weight 10^9, negated": Member(sends="heavy and negated"),
    "bandwidth 10^30, negated": Member(answers="negated", bandwidth=1e30),
    "two faces": Member(answers="a quarter larger", is_two_faced=True),
}


def _patch(member: Member, is_attacking: Callable[[], bool]) -> None:
    send, answer, bandwidth = (
        AtomicAllReduce._generate_input_for_peer,
        AtomicAllReduce._accumulate_parts_streaming,
        Link.bandwidth,
    )

    async def sent(self: AtomicAllReduce, peer_index: int) -> AsyncIterator[Any]:
        async for part in send(self, peer_index):
            for changed in ATTACKS[member.sends](part) if member.sends and is_attacking() else [part]:
                yield changed

    async def answered(self: AtomicAllReduce, stream: AsyncIterator[Any], sender_index: int) -> AsyncIterator[Any]:
        deceived = min(peer for peer in self.sender_peer_ids if peer != self.peer_id)
        is_hit = not member.is_two_faced or self.sender_peer_ids[sender_index] == deceived
        async for average in answer(self, stream, sender_index):
            for changed in (
                ATTACKS[member.answers](average) if member.answers and is_hit and is_attacking() else [average]
            ):
                yield changed

    def claimed(self: Link) -> float:
        return member.bandwidth if member.bandwidth and is_attacking() else bandwidth(self)

    AtomicAllReduce._generate_input_for_peer = sent
    AtomicAllReduce._accumulate_parts_streaming = answered  # type: ignore[method-assign]
    Link.bandwidth = claimed  # type: ignore[method-assign]


def main() -> None:
    when, attack, *arguments = sys.argv[1:]
    _patch(MEMBERS[attack], Path(when).exists)
    sys.argv[1:] = arguments
    churn_peer.main()


if __name__ == "__main__":
    main()
