"""When a peer computes on during its rounds."""

from core.swarm.averaging.round_share import RoundShare


def after(*epochs: tuple[float, float]) -> RoundShare:
    """(seconds of the round, of the whole epoch), after a first update."""
    share, now = RoundShare(), 100.0
    share.add_update(50.0, now)
    for took, epoch in epochs:
        now += epoch
        share.add_update(took, now)
    return share


def test_nothing_is_known_before_a_whole_epoch() -> None:
    assert after().value == 0.0
    assert not after().is_worth("auto")


def test_a_peer_computes_on_where_its_rounds_take_more_than_a_tenth_of_its_epochs() -> None:
    assert not after((1.0, 10.0)).is_worth("auto")
    assert after((1.1, 10.0)).is_worth("auto")


def test_only_the_last_five_epochs_count() -> None:
    slow, fast = (9.0, 10.0), (0.1, 10.0)
    assert after(slow, *[fast] * 4).is_worth("auto")
    assert not after(slow, *[fast] * 5).is_worth("auto")


def test_a_pause_makes_no_epoch_longer() -> None:
    share = after((5.0, 10.0))
    share.pause()
    share.add_update(5.0, 10_000.0)
    assert share.value == 0.5
    share.add_update(5.0, 10_010.0)
    assert share.value == 0.5


def test_a_project_may_decide_otherwise() -> None:
    assert RoundShare().is_worth("always")
    assert not after((9.0, 10.0)).is_worth("never")
