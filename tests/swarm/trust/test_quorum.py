"""Whose accusations are enough, where there is no organiser to ask."""

from hypothesis import given
from hypothesis import strategies as st

from core.swarm.trust.quorum import Influence, accused_by_quorum

SIXTEEN = {f"peer {number}": 10.0 for number in range(16)}


def test_more_than_a_third_of_the_samples_is_enough() -> None:
    votes = {f"peer {number}": {"peer 15"} for number in range(5)}
    assert accused_by_quorum(votes, SIXTEEN) == frozenset()
    assert accused_by_quorum({**votes, "peer 5": {"peer 15"}}, SIXTEEN) == {"peer 15"}


def test_a_hundred_keys_of_one_computer_weigh_what_they_bring() -> None:
    keys = {f"key {number}": 0.1 for number in range(100)}
    assert accused_by_quorum({key: {"peer 0"} for key in keys}, SIXTEEN | keys) == frozenset()
    strangers = {f"stranger {number}": {"peer 0"} for number in range(100)}
    assert accused_by_quorum(strangers, SIXTEEN) == frozenset()


@given(st.data(), st.integers(0, 5))
def test_whatever_a_third_says_sets_nobody_against_anybody(data: st.DataObject, liars: int) -> None:
    someone = st.sets(st.sampled_from(sorted(SIXTEEN)))
    votes = {f"peer {number}": data.draw(someone) for number in range(liars)}
    assert accused_by_quorum(votes, SIXTEEN) == frozenset()


def test_nobody_is_left_out_on_its_own_word() -> None:
    assert accused_by_quorum({"a": {"a"}}, {"a": 10.0, "b": 1.0}) == frozenset()


def test_what_was_brought_long_ago_counts_no_more_and_new_keys_displace_nobody_who_brings_more() -> None:
    influence = Influence()
    influence.add_round({"a": 100.0, "b": 100.0})
    for number in range(50):
        influence.add_round({"b": 100.0, **{f"key {number}-{other}": 1.0 for other in range(10)}})
    weights = influence.of_peers
    assert weights.get("a", 0.0) < 1.0
    assert weights["b"] > 900.0
    assert len(weights) == 64
