"""A hundred keys do not fill a group."""

from core.swarm.trust.admission import PER_ADDRESS, admits

PROVEN = frozenset({b"a", b"b"})


def taken(peers: list[tuple[bytes, str]], proven: frozenset[bytes] | None, places: int | None) -> dict[bytes, str]:
    """Who is in the group after all of them have asked."""
    members = dict[bytes, str]()
    for peer, address in peers:
        if admits(peer, address, members, proven, places):
            members[peer] = address
    return members


SYBILS = [(b"x%d" % number, "10.0.0.1") for number in range(100)]


def test_many_keys_of_one_address_take_few_places() -> None:
    members = taken([*SYBILS, (b"a", "10.0.0.1"), (b"new", "10.0.0.2")], PROVEN, None)
    assert len(members) == PER_ADDRESS + 2
    assert {b"a", b"new"} <= members.keys()


def test_newcomers_from_everywhere_leave_half_of_a_full_group_to_the_others() -> None:
    everywhere = [(b"x%d" % number, f"10.0.0.{number}") for number in range(100)]
    members = taken([*everywhere, (b"a", "10.1.0.1"), (b"b", "10.1.0.2")], PROVEN, 16)
    assert len(members) == 8 + 2
    assert members.keys() >= PROVEN


def test_where_nobody_is_known_everybody_is_taken() -> None:
    assert len(taken(SYBILS, None, 16)) == 100
