"""What a member brought to a round is compared with what its samples give."""

from collections.abc import Sequence

import pytest
import torch

from core.learning.order import Piece
from core.swarm.trust.validation import (
    Evidence,
    Facts,
    Verdicts,
    Wanted,
    evidence_of,
    tolerance_of,
)

SIZE, BEGIN, END = 40_000, 10_000, 30_000
TOLERANCE = tolerance_of("float16")


def gradient(seed: int) -> torch.Tensor:
    return torch.randn(SIZE, generator=torch.Generator().manual_seed(seed)) * 1e-3


def sent(vector: torch.Tensor, weight: float = 48.0, epoch: int = 5) -> Evidence:
    parts = vector[BEGIN:END].to(torch.float16).float().split(4096)
    found = evidence_of(Facts("peer", b"slot", epoch, weight, BEGIN, END), parts)
    assert found is not None
    return found


def test_rounding_is_no_deviation() -> None:
    assert sent(gradient(1)).deviation(gradient(1)) < 0.01


@pytest.mark.parametrize(
    "lie",
    [
        lambda own, _: -own,
        lambda own, _: torch.zeros_like(own),
        lambda _, others: others.mean(0) - 0.7 * others.std(0),
        lambda _, others: -0.1 * others.mean(0),
        lambda own, _: 0.6 * own,
        lambda _, others: others[0],
    ],
    ids=["negated", "nothing", "a little is enough", "inner product", "shortened", "another one's"],
)
def test_whatever_else_is_sent_deviates(lie: object) -> None:
    assert callable(lie)
    others = torch.stack([gradient(seed) for seed in range(2, 11)])
    assert sent(lie(gradient(1), others)).deviation(gradient(1)) > TOLERANCE


def test_a_lie_outside_the_share_is_for_whoever_reduces_that() -> None:
    lie = gradient(1)
    lie[:BEGIN] *= -1
    lie[END:] *= -1
    assert sent(lie).deviation(gradient(1)) < 0.01


def test_a_share_that_is_nothing_but_rounding_deviates_from_nothing() -> None:
    vector = gradient(1)
    vector[BEGIN:END] *= 1e-5
    noise = vector.clone()
    noise[BEGIN:END] *= -1
    assert sent(noise).deviation(vector) < TOLERANCE


def test_parts_that_are_missing_are_no_evidence() -> None:
    facts = Facts("peer", b"slot", 5, 48.0, BEGIN, END)
    assert evidence_of(facts, [gradient(1)[BEGIN : END - 1]]) is None
    assert evidence_of(facts._replace(end=BEGIN), []) is None


@pytest.mark.parametrize(
    ("pieces", "supports"),
    [
        ([Piece(5, 0, 16), Piece(5, 16, 16), Piece(5, 32, 16)], True),
        ([Piece(4, 64, 16), Piece(5, 0, 32)], True),
        ([Piece(5, 0, 16), Piece(5, 32, 32)], True),
        ([Piece(5, 0, 16), Piece(5, 16, 16)], False),
        ([Piece(5, 0, 32), Piece(5, 16, 16)], False),
        ([Piece(5, 0, 32), Piece(4, 0, 16)], False),
        ([Piece(3, 0, 48)], False),
        ([Piece(6, 0, 48)], False),
        ([Piece(5, 8 * 96 - 48, 48)], True),
        ([Piece(5, 8 * 96 - 47, 48)], False),
        ([Piece(4, 0, 16, 1), Piece(5, 0, 32, 2)], True),
        ([Piece(5, 0, 16, 0), Piece(5, 16, 32, 1)], False),
        ([Piece(5, 0, 48, 3)], False),
        ([], False),
    ],
    ids=[
        *("all", "computed during a round", "some left out", "too few", "twice", "in no order", "old", "ahead"),
        *("many before", "too many before", "another portion later", "two portions at once", "no such portion", "none"),
    ],
)
def test_samples_support_a_weight_if_they_are_of_this_epoch_and_counted_once(
    pieces: Sequence[Piece], supports: bool
) -> None:
    assert sent(gradient(1)).is_supported_by(pieces, target=96, portions=3) is supports


def test_who_fails_twice_while_another_one_passes_is_guilty() -> None:
    verdicts = Verdicts()
    assert not verdicts.add("a", is_good=False)
    assert verdicts.suspects == {"a"}
    assert not verdicts.add("b", is_good=False)
    assert not verdicts.add("c", is_good=True)
    assert verdicts.add("a", is_good=False)
    assert verdicts.suspects == {"b"}


def test_nobody_is_guilty_soon_while_everybody_fails() -> None:
    verdicts = Verdicts()
    failed = [verdicts.add(peer, is_good=False) for _ in range(5) for peer in "abc"]
    assert not any(failed), "the validator's own state may be off"
    assert verdicts.add("a", is_good=False), "not for ever"


def test_who_passes_in_between_is_no_suspect_any_more() -> None:
    verdicts = Verdicts()
    assert not verdicts.add("a", is_good=False)
    assert not verdicts.add("a", is_good=True)
    assert not verdicts.suspects
    assert not verdicts.add("a", is_good=False)


def test_who_passes_is_known_to_have_passed_until_it_fails() -> None:
    verdicts = Verdicts()
    verdicts.add("a", is_good=True)
    assert verdicts.passed == ("a",)
    verdicts.add("a", is_good=False)
    assert not verdicts.passed


def test_suspects_are_often_watched_else_mostly_newcomers_and_everybody_now_and_then() -> None:
    peers = ["old", "new", "suspect"]
    suspecting = Wanted(frozenset({"suspect"}), ("old", "suspect"))
    assert 150 < [suspecting.choice(peers) for _ in range(400)].count("suspect") < 300
    wanted = Wanted(frozenset({"away"}), ("old",))
    chosen = [wanted.choice(peers[:2]) for _ in range(400)]
    assert 300 < chosen.count("new") < 395
    assert wanted.choice([]) is None


def test_another_one_is_validated_before_one_that_has_just_failed() -> None:
    verdicts = Verdicts()
    verdicts.add("old", is_good=True)
    verdicts.add("failed", is_good=False)
    wanted = Wanted(verdicts.suspects, verdicts.passed, verdicts.waiting)
    assert {wanted.choice(["failed", "old"]) for _ in range(50)} == {"old"}
    assert wanted.choice(["failed"]) == "failed"
    verdicts.add("old", is_good=True)
    assert not verdicts.waiting


def test_who_did_not_pass_lately_is_next_but_nobody_is_safe() -> None:
    wanted = Wanted(frozenset(), ("a", "b", "c", "d"))
    chosen = [wanted.choice(["d", "c", "b", "a"]) for _ in range(800)]
    assert all(chosen.count(longest_ago) > 200 for longest_ago in "ab")
    assert all(20 < chosen.count(lately) < 130 for lately in "cd")


def test_who_says_nothing_is_noticed_after_many_times_and_not_in_between() -> None:
    verdicts = Verdicts()
    assert not any(verdicts.add_silence("a") for _ in range(5))
    assert not verdicts.suspects
    assert verdicts.add_silence("a")
    assert not any(verdicts.add_silence("b") for _ in range(5))
    verdicts.add("b", is_good=True)
    assert not verdicts.add_silence("b")


def test_who_says_nothing_when_it_is_asked_itself_is_noticed_after_half_as_many_times() -> None:
    verdicts = Verdicts()
    assert [verdicts.add_silence("a", is_certain=True) for _ in range(3)] == [False, False, True]


def test_eight_bits_are_enough_to_find_only_what_points_the_other_way() -> None:
    coarse = tolerance_of("uniform8bit")
    assert sent(-gradient(1)).deviation(gradient(1)) > coarse
    assert sent(torch.zeros(SIZE) + 0.01 * gradient(1)).deviation(gradient(1)) < coarse
