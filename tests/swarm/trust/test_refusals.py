"""Who gives no account of its rounds too often."""

from core.swarm.trust.refusals import Refusals


def test_who_gives_no_account_now_and_then_is_forgiven_and_who_often_does_not_is_found() -> None:
    forgiving, counted = Refusals[str](), Refusals[str]()
    others = ["A", "B", "C"]
    seldom = [forgiving.repeated([*others, "X"], ["X"] if audit % 5 == 0 else []) for audit in range(100)]
    assert seldom == [[]] * 100
    every_second = [counted.repeated([*others, "X"], ["X"] if audit % 2 == 0 else []) for audit in range(9)]
    assert every_second.index(["X"]) == 6


def test_who_hears_nobody_blames_nobody() -> None:
    refusals = Refusals[str]()
    assert [refusals.repeated(["A", "B"], ["A", "B"]) for _ in range(10)] == [[]] * 10
