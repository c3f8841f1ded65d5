"""What members say about themselves is read strictly, and counts alike for everybody."""

import math
from typing import Any

import pytest
from hivemind.averaging.group_info import GroupInfo
from hivemind.p2p import PeerID
from hivemind.utils import MSGPackSerializer
from hypothesis import given
from hypothesis import strategies as st

from core.swarm.trust.claims import FASTEST, as_counted, is_whole, read_claim

GIGABIT = 125e6


def claim(bandwidth: Any = 12.5e6, mode: Any = 0, user: Any = b"\x01") -> bytes:
    return bytes(MSGPackSerializer.dumps([bandwidth, mode, user]))


@pytest.mark.parametrize("bandwidth", [None, 0.0, 25e6, GIGABIT, 2])
def test_an_honest_claim_counts_as_it_is(bandwidth: float | None) -> None:
    read = read_claim(claim(bandwidth))
    assert read is not None
    assert read.bandwidth == bandwidth


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"\xff" * 40,
        claim() + b"\x00",
        claim(user=b"x" * 1000),
        claim(math.nan),
        claim(math.inf),
        claim(-1.0),
        claim("fast"),
        claim(True),
        claim(mode=2),
        claim(mode=7),
        claim(mode=False),
        claim(mode="0"),
        claim(user="text"),
        bytes(MSGPackSerializer.dumps([12.5e6, 0])),
        bytes(MSGPackSerializer.dumps({"bandwidth": 1})),
    ],
)
def test_a_malformed_claim_is_none(data: bytes) -> None:
    assert read_claim(data) is None


def test_no_claim_counts_as_more_than_ten_gigabits() -> None:
    read = read_claim(claim(1e30))
    assert read is not None
    assert read.bandwidth == FASTEST


@given(st.binary(max_size=64))
def test_whatever_is_read_is_within_bounds(data: bytes) -> None:
    read = read_claim(data)
    assert read is None or read.bandwidth is None or 0 <= read.bandwidth <= FASTEST


A, B, C = (PeerID(bytes([number]) * 34) for number in (1, 2, 3))


def group(*claims: bytes, peers: tuple[PeerID, ...] = (A, B, C)) -> GroupInfo:
    return GroupInfo(b"id", peers, claims)


def test_a_group_has_every_member_once_with_its_claim() -> None:
    own = claim(1.0)
    assert is_whole(group(claim(), own, claim()), A, B, own)
    assert not is_whole(group(claim(), own), A, B, own)
    assert not is_whole(group(claim(), claim(), claim()), A, B, own)
    assert not is_whole(group(own, claim(), claim()), A, B, own)
    assert not is_whole(group(claim(), own, claim(), peers=(A, B, A)), A, B, own)
    assert not is_whole(group(claim(), own, claim(), peers=(C, B, A)), PeerID(b"\x04" * 34), B, own)


def test_who_was_told_other_claims_or_members_is_in_another_group() -> None:
    said = [
        group(claim(), claim(), claim()),
        group(claim(), claim(), claim(1.0)),
        group(claim(), claim(), claim(), peers=(A, C, B)),
    ]
    assert len({as_counted(one).group_id for one in said}) == 3
    assert as_counted(said[0]) == as_counted(group(claim(), claim(), claim()))
