"""Progress that lies: what of it counts."""

import math
from dataclasses import replace
from typing import Any

from hivemind.utils import ValueWithExpiration
from hypothesis import given
from hypothesis import strategies as st

from core.swarm.dht.progress.credible_progress import (
    Disbelief,
    PeerHistory,
    PeerReport,
    credible_epoch,
    reports_in,
    supported_epoch,
)

NOW = 1_790_000_000.0
TARGET = 384


def record(**changes: Any) -> dict[str, Any]:
    return {
        "peer_id": b"peer",
        "epoch": 5,
        "samples_accumulated": 16,
        "samples_per_second": 2.0,
        "time": NOW,
        "client_mode": False,
        **changes,
    }


def read(expires: float = NOW + 30.0, **changes: Any) -> list[PeerReport]:
    return reports_in({b"slot": ValueWithExpiration(record(**changes), expires)}, NOW, TARGET)


def report(name: str, epoch: int = 5, samples: int = 16, *, client: bool = False, slot: str = "") -> PeerReport:
    return PeerReport((slot or name).encode(), name.encode(), epoch, samples, 2.0, NOW, client)


def test_every_field_is_bounded() -> None:
    [honest] = read()
    assert (honest.epoch, honest.samples_accumulated, honest.samples_per_second) == (5, 16, 2.0)
    assert read(epoch=2**64 - 1) == []
    assert read(samples_per_second=math.inf) == read(samples_per_second=math.nan) == []
    assert reports_in({b"slot": ValueWithExpiration({1: 2}, NOW)}, NOW, TARGET) == []
    assert read(time=math.nan) == read(peer_id=b"x" * 100) == []
    [loud] = read(samples_accumulated=10**9, samples_per_second=1e300, time=-1e300)
    assert loud.samples_accumulated <= 4 * TARGET
    assert loud.samples_per_second <= 4 * TARGET
    assert NOW - 120.0 <= loud.time <= NOW


def test_a_record_that_would_outlive_its_owner_for_years_does_not_count() -> None:
    assert read(NOW + 10 * 365 * 86400) == read(math.inf) == read(math.nan) == []


def test_one_peer_far_ahead_moves_nobody() -> None:
    others = [report("a"), report("liar", 10**6)]
    assert credible_epoch(5, others, None) == 5
    assert credible_epoch(5, [report("liar", 10**6)], organiser=5) == 5
    assert credible_epoch(0, [report("liar", 10**6, client=True)], organiser=5) == 5


def test_most_peers_or_the_organiser_decide_and_a_missed_update_is_noticed() -> None:
    assert credible_epoch(5, [report("a", 900), report("b", 901), report("liar", 10**6)], None) == 901
    assert credible_epoch(0, [], organiser=200) == 200
    assert credible_epoch(5, [report("a", 6)], organiser=5) == 6
    assert credible_epoch(5, [report("a", 6, client=True)], organiser=5) == 5


def test_who_claimed_an_epoch_that_nobody_has_is_not_believed_for_a_while_and_then_for_longer() -> None:
    disbelief = Disbelief()
    disbelief.add([b"liar"], NOW)
    others = [report("a"), report("liar", 6)]
    assert credible_epoch(5, others, 5) == 6
    assert credible_epoch(5, others, 5, disbelief.slots(NOW + 1.0)) == 5
    assert not disbelief.slots(NOW + 31.0)
    disbelief.add([b"liar"], NOW + 31.0)
    assert disbelief.slots(NOW + 90.0)


def test_samples_count_as_far_as_their_peer_has_come_to_a_round() -> None:
    history, own = PeerHistory(), report("own", samples=100)
    ghost = report("ghost", samples=1500)
    assert history.limited([report("a", samples=60), ghost], own)[1].samples_accumulated == 1500, "nothing is known yet"
    history.add_round([b"a"], is_one_group=True)
    a, held = history.limited([report("a", samples=60), ghost], own)
    assert (a.samples_accumulated, held.samples_accumulated) == (60, 80)
    history.add_round([b"a"], is_one_group=True)
    assert not history.limited([report("a", samples=60), ghost], own)[1].adds_samples
    for held_to in (58, 58, 1500):
        history.add_round([b"a", b"ghost"], is_one_group=True)
        assert history.limited([report("a"), ghost], own)[1].samples_accumulated == held_to


def test_a_hundred_newcomers_count_together_as_much_as_one_until_they_have_come_to_updates() -> None:
    history, own, known = PeerHistory(), report("own", samples=100), report("a", samples=60)
    for _ in range(4):
        history.limited([known], own)
        history.add_round([b"a"], is_one_group=True)
    crowd = [report(f"x{number}", samples=1500) for number in range(100)]
    counted = history.limited([known, *crowd], own)
    assert counted[0] == known
    assert sum(each.samples_accumulated for each in counted[1:]) <= 80
    assert sum(each.samples_per_second for each in counted[1:]) <= 1.01 * known.samples_per_second
    (alone,) = history.limited([known, crowd[0]], own)[1:]
    assert alone.samples_accumulated == 80


def test_a_peer_that_the_organiser_has_not_validated_stays_a_newcomer_for_longer() -> None:
    validated: list[bytes] = [b"a"]
    history, own = PeerHistory(lambda: validated), report("own", epoch=40, samples=100)
    known, other = report("a", epoch=40, samples=60), report("b", epoch=40, samples=900)

    def counted() -> int:
        return history.limited([known, other], own)[1].samples_accumulated

    for partners in [[b"a"]] * 20 + [[b"a", b"b"]] * 10:
        history.limited([known, *([other] if b"b" in partners else [])], own)
        history.add_round(partners, is_one_group=True)
    assert history.has_proved_itself(known)
    assert counted() == 80
    assert history.has_proved_itself(replace(other, epoch=5)), "in the first epochs of a run all are new"
    validated.append(b"b")
    assert counted() == 900
    validated.remove(b"b")
    for _ in range(6):
        history.add_round([b"a", b"b"], is_one_group=True)
    assert counted() == 900, "at last it counts anyhow"


def test_without_a_validator_nobody_waits_for_it() -> None:
    history = PeerHistory()
    known = report("a", epoch=40, samples=60)
    for _ in range(3):
        history.limited([known], report("own", epoch=40))
        history.add_round([b"a"], is_one_group=True)
    assert history.has_proved_itself(known)


def test_who_stays_away_for_a_while_is_no_newcomer_again() -> None:
    history, own = PeerHistory(), report("own", samples=100)
    others = [report("a", samples=60), report("back", samples=50)]
    for partners in ([b"a", b"back"], [b"a", b"back"], [b"a", b"back"], [b"a"]):
        history.limited(others, own)
        history.add_round(partners, is_one_group=True)
    crowd = [report(f"x{number}") for number in range(100)]
    assert history.limited([*others, *crowd], own)[1].samples_accumulated == 50


def test_a_peer_that_stays_away_is_waited_for_ever_more_rarely_until_it_comes() -> None:
    history, own = PeerHistory(), report("own", samples=100)
    others = [report("a", samples=60), report("late", samples=50)]
    waited = []
    history.add_round([b"a"], is_one_group=True)
    for update in range(40):
        if history.limited(others, own)[1].adds_samples:
            waited.append(update)
        history.add_round([b"a"], is_one_group=True)
    assert waited == [0, 1, 4, 8, 16, 32]
    history.add_round([b"a", b"late"], is_one_group=True)
    assert history.limited(others, own)[1].adds_samples


def test_a_peer_of_another_group_is_not_taken_for_absent() -> None:
    history, own = PeerHistory(), report("own", samples=100)
    others = [report("a", samples=60), report("b", samples=50)]
    for _ in range(3):
        history.limited(others, own)
        history.add_round([b"a"], is_one_group=False)
    assert [each.samples_accumulated for each in history.limited(others, own)] == [60, 50]


def test_a_peer_that_adds_no_samples_is_not_taken_for_absent() -> None:
    history = PeerHistory()
    auxiliary = replace(report("auxiliary", samples=0), samples_per_second=1e-20)
    others = [auxiliary, report("trainer")]
    for _update in range(3):
        assert history.limited(others, report("own"))[0].is_auxiliary
        history.add_round([b"trainer"], is_one_group=True)


def test_a_newcomer_is_believed_where_all_known_trainers_have_left() -> None:
    history = PeerHistory()
    auxiliary = replace(report("own", samples=0), samples_per_second=1e-20)
    gone, newcomer = report("gone", samples=8), report("newcomer", samples=300)
    history.limited([gone], auxiliary)
    history.add_round([b"gone"], is_one_group=True)
    here, away = [gone, newcomer], [newcomer]
    assert history.limited(here, auxiliary)[1].samples_accumulated == 8
    assert history.limited(here, auxiliary, lambda report: report is not gone)[1].samples_accumulated == 300
    assert history.limited(away, auxiliary)[0].samples_accumulated == 300


def test_nobody_gets_anothers_credit_by_naming_its_peer_id() -> None:
    history, own = PeerHistory(), report("own", samples=100)
    history.limited([report("a", samples=60)], own)
    history.add_round([b"a"], is_one_group=True)
    thief = report("a", samples=1500, slot="thief")
    assert [each.samples_accumulated for each in history.limited([thief, report("a", samples=60)], own)] == [80, 60]


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.binary(max_size=70) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
values = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(record(), plain),
)


@given(st.dictionaries(st.binary(max_size=8) | st.text(max_size=3), st.tuples(values | plain, st.floats()), max_size=5))
def test_whatever_the_dht_holds_every_claim_is_in_range(entries: dict[Any, tuple[Any, float]]) -> None:
    metadata = {key: ValueWithExpiration(value, expires) for key, (value, expires) in entries.items()}
    for each in reports_in(metadata, NOW, TARGET):
        assert 0 <= each.epoch <= 2**53
        assert 0 <= each.samples_accumulated <= 4 * TARGET
        assert 0 <= each.samples_per_second <= 4 * TARGET
        assert NOW - 120.0 <= each.time <= NOW


@given(st.lists(st.integers(0, 2**53), max_size=6), st.integers(0, 2**53), st.none() | st.integers(0, 2**53))
def test_a_minority_never_decides(epochs: list[int], lie: int, organiser: int | None) -> None:
    honest = [report(str(number), epoch) for number, epoch in enumerate(epochs)]
    voters = len(honest) + (organiser is not None)
    liars = [report(f"liar {number}", lie) for number in range(max(0, (voters - 1) // 2))]
    most = max([*epochs, organiser or 0])
    assert supported_epoch([*honest, *liars], organiser) <= most
