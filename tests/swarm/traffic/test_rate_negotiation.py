"""What a peer under a ceiling tells those that are about to send to it."""

import struct

import pytest
from hivemind.p2p import PeerID

from core.api.session_settings import Limits
from core.swarm.traffic.link import Link
from core.swarm.traffic.rate_negotiation import RateNegotiation
from tests.swarm.in_a_loop import in_a_loop

CEILING = 200_000
ANN, BEN, CARL = (PeerID(bytes([18, 32, *([number] * 32)])) for number in range(3))


async def told(negotiation: RateNegotiation, peer: PeerID, *, sends: bool = True) -> float:
    (rate,) = struct.unpack(">d", await negotiation.answer(struct.pack(">d", 0.0), peer, sends=sends))
    return float(rate)


@in_a_loop
async def test_members_of_a_group_that_ask_at_the_same_moment_are_told_of_each_other() -> None:
    negotiation = made()
    alone = await told(negotiation, ANN)
    assert alone == pytest.approx(CEILING, rel=0.03)
    assert await told(negotiation, BEN) == pytest.approx(alone / 2)
    assert await told(negotiation, CARL) == pytest.approx(alone / 3)
    # Who asks again is counted once.
    assert await told(negotiation, ANN) == pytest.approx(alone / 3)


@in_a_loop
async def test_who_only_takes_a_state_leaves_the_others_their_share() -> None:
    negotiation = made()
    alone = await told(negotiation, ANN, sends=False)
    assert await told(negotiation, BEN) == alone


def made() -> RateNegotiation:
    link = Link()
    link.apply(Limits(download_limit=CEILING))
    return RateNegotiation(link)
