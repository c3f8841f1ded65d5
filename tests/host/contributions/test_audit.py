"""Which samples of volunteers the backbone counts: those that a round can hold and its reports support."""

import logging

import pytest

from core.swarm.dht.contributions import Round
from tests.host.books import TARGET, Books, Peer


@pytest.fixture
def crowd(books: Books) -> tuple[list[Peer], list[Peer]]:
    """Three who compute, a hundred keys that do not, and the reports of all before the first round."""
    honest = [Peer("ann"), Peer("ben"), Peer("cem")]
    liars = [Peer(f"liar{number}", speed=0.0) for number in range(100)]
    books.see(0, *(peer.reports(0, 170) for peer in honest), *(liar.reports(0, 0) for liar in liars))
    books.see(1, *(peer.reports(1, 3) for peer in honest), *(liar.reports(1, 0) for liar in liars))
    return honest, liars


def test_a_hundred_keys_that_report_no_samples_get_nothing_and_displace_nobody(
    books: Books, crowd: tuple[list[Peer], list[Peer]]
) -> None:
    honest, liars = crowd
    books.hear(*(peer.claims(1, 172) for peer in honest))
    books.hear(*(liar.claims(1, 2 * 16) for liar in liars))
    assert [books.total(peer) for peer in honest] == [172] * 3
    assert sum(map(books.total, liars)) == 0


def test_keys_that_report_samples_but_come_to_no_round_get_nothing_and_displace_nobody(books: Books) -> None:
    books.restart(knows_rounds=True)
    honest = [Peer("ann"), Peer("ben"), Peer("cem")]
    liars = [Peer(f"liar{number}") for number in range(100)]
    books.see(0, *(peer.reports(0, 170) for peer in (*honest, *liars)))
    books.see(1, *(peer.reports(1, 3) for peer in (*honest, *liars)), made=0)
    early = [liar.claims(1, 150) for liar in liars]
    books.hear(*early)
    books.meet(1, *honest)
    books.see(1, *(peer.reports(1, 5) for peer in (*honest, *liars)), made=1)
    books.hear(*early, *(peer.claims(1, 172) for peer in honest))
    assert [books.total(peer) for peer in honest] == [172] * 3
    assert sum(map(books.total, liars)) == 0
    assert books.store.rejections() == {"of a round it was not in": 100}
    assert books.store.rows("SELECT count(*) FROM claim") == [(3,)], "nothing is stored of the others"


def test_where_groups_are_full_who_never_met_the_backbone_gets_nothing(books: Books) -> None:
    books.restart(knows_rounds=True)
    ann, ben, liar = Peer("ann"), Peer("ben"), Peer("liar")
    everybody = (ann, ben, liar)
    books.see(0, *(peer.reports(0, 170) for peer in everybody))
    for epoch, met in ((1, ann), (2, ben)):
        books.meet(epoch, met, full=True)
        books.see(epoch, *(peer.reports(epoch, 170) for peer in everybody), made=epoch)
        books.hear(*(peer.claims(epoch, 150) for peer in everybody))
    assert [books.total(peer) for peer in everybody] == [300, 300, 0]


def test_a_round_that_the_backbone_missed_counts_by_what_was_reported(books: Books) -> None:
    books.restart(knows_rounds=True)
    ann = Peer("ann")
    books.see(0, ann.reports(0, 170))
    books.meet(1, ann)
    books.see(2, ann.reports(2, 170), made=2)
    books.hear(ann.claims(2, 150))
    assert books.total(ann) == 150


def test_what_was_given_is_counted_once_however_often_it_is_read(books: Books, ann: Peer) -> None:
    assert books.total(ann) == 172
    for _ in range(3):
        books.see(1, ann.reports(1, 90))
    books.see(2, ann.reports(2, 0))
    claimed = ann.claims(2, 120)
    books.hear(claimed, claimed)
    books.restart()
    books.see(2, ann.reports(2, 10))
    books.hear(claimed)
    assert books.total(ann) == 172 + 120
    assert books.store.rejections() == {}
    assert books.store.totals() == (3, 3 * 172 + 120)


def test_an_inflated_claim_counts_nothing_and_is_logged(
    books: Books, ann: Peer, caplog: pytest.LogCaptureFixture
) -> None:
    books.see(1, ann.reports(1, 170))
    books.see(2, ann.reports(2, 0))
    with caplog.at_level(logging.WARNING):
        books.hear(ann.claims(2, 1720))
    assert books.total(ann) == 172
    assert books.store.rejections() == {"inflated": 1}
    assert "inflated" in caplog.text
    books.restart()
    books.see(2, ann.reports(2, 0))
    books.hear(ann.claims(3, 10))
    assert books.total(ann) == 172 + 10, "a refused claim stays refused"


def test_a_small_peer_cannot_claim_ten_times_as_much_either(books: Books, ann: Peer) -> None:
    dan = Peer("dan", speed=5.0)
    books.see(1, ann.reports(1, 150), dan.reports(1, 25))
    books.see(2, ann.reports(2, 0), dan.reports(2, 0))
    books.hear(dan.claims(2, 250))
    assert books.total(dan) == 0


def test_who_is_first_seen_after_its_round_can_have_filled_two_batches_while_the_others_were_late(books: Books) -> None:
    quick, liar = Peer("quick"), Peer("liar")
    books.see(1, quick.reports(1, 20), liar.reports(1, 20))
    books.hear(quick.claims(1, 2 * TARGET), liar.claims(1, 3 * TARGET))
    assert (books.total(quick), books.total(liar)) == (2 * TARGET, 0)


def test_a_session_cannot_claim_rounds_from_before_it_was_seen(books: Books, ann: Peer) -> None:
    for epoch in range(2, 20):
        books.see(epoch, ann.reports(epoch, 50))
    late = Peer("late", key=ann.key)
    books.see(20, late.reports(20, 50), ann.reports(20, 50))
    late.rounds = [Round(epoch, 100, 4.0) for epoch in range(10, 20)]
    books.hear(late.claims(20, 100))
    assert books.total(ann) == 172 + 100
    assert books.store.rejections() == {"of a round it was not in": 10}


def test_a_round_that_has_not_been_is_counted_when_it_has(books: Books, ann: Peer) -> None:
    ahead = ann.claims(9, 100)
    books.hear(ahead)
    assert books.total(ann) == 172
    for epoch in range(1, 10):
        books.see(epoch, ann.reports(epoch, 60))
    books.hear(ahead)
    assert books.total(ann) == 272


def test_of_claims_that_no_round_can_hold_the_largest_go_first(books: Books, ann: Peer) -> None:
    liars = [Peer(f"liar{number}", speed=5000.0) for number in range(3)]
    books.see(1, ann.reports(1, 150), *(liar.reports(1, 900 + number) for number, liar in enumerate(liars)))
    books.see(2, ann.reports(2, 0), *(liar.reports(2, 0) for liar in liars))
    books.hear(*(liar.claims(2, 900 + number) for number, liar in enumerate(liars)), ann.claims(2, 150))
    assert books.total(ann) == 172 + 150
    assert sum(map(books.total, liars)) <= 4 * TARGET
    assert books.total(liars[2]) == 0
    assert books.store.rejections() == {"more than a round holds": 1}


def test_one_identity_on_two_machines_adds_up(books: Books, ann: Peer) -> None:
    other = Peer("laptop", key=ann.key)
    books.see(1, ann.reports(1, 100), other.reports(1, 200))
    books.see(2, ann.reports(2, 0), other.reports(2, 0))
    books.hear(ann.claims(2, 100), other.claims(2, 200))
    entry = books.store.entry(ann.id)
    assert entry is not None
    assert (entry.samples, entry.rounds, entry.place) == (172 + 300, 3, 1)
    assert entry.share == pytest.approx(472 / (3 * 172 + 300))


def test_losses_reach_the_learning_curve(books: Books, ann: Peer) -> None:
    (point,) = books.curve.points()
    assert (point.epoch, point.loss, point.peers, point.samples) == (1, 4.0, 3, 3 * 172)


def test_a_member_that_names_the_place_of_another_one_costs_that_one_nothing_and_gets_nothing(books: Books) -> None:
    books.restart(knows_rounds=True)
    ann, liar = Peer("ann"), Peer("liar")
    books.see(0, ann.reports(0, 170), liar.reports(0, 170))
    for epoch, slot in ((1, liar.slot), (2, ann.slot)):
        group = frozenset({(b"ann", ann.slot), (b"liar", slot)})
        books.audit.add_round(epoch, group, may_be_others=False)
        books.see(epoch, ann.reports(epoch, 170), liar.reports(epoch, 170), made=epoch)
        books.hear(ann.claims(epoch, 150), liar.claims(epoch, 150))
    assert (books.total(ann), books.total(liar)) == (300, 150)
    books.audit.disown(b"liar")
    assert (books.total(ann), books.total(liar)) == (300, 0)
    books.meet(3, ann, liar)
    books.see(3, ann.reports(3, 170), liar.reports(3, 170), made=3)
    books.hear(ann.claims(3, 150), liar.claims(3, 150))
    assert (books.total(ann), books.total(liar)) == (450, 0)
