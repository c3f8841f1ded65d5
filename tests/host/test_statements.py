"""Which statements of volunteers the backbone reads: those of the session, at its place, and the newest."""

import pytest

from core.swarm.dht.contributions import Found, Round, Statement, sign
from tests.host.books import RUN, Books, Peer


def test_a_forged_statement_counts_for_nobody(books: Books, ann: Peer) -> None:
    thief = Peer("thief")
    books.see(1, ann.reports(1, 100), thief.reports(1, 100))
    signed_by_thief = sign(Statement(RUN, thief.slot, b"thief", 1, (Round(1, 100, 4.0),), 50.0), thief.key)
    under_anns_name = ann.key.public_key().public_bytes_raw() + signed_by_thief[32:]
    books.hear(Found(thief.slot, under_anns_name))
    assert (books.total(ann), books.total(thief)) == (172, 0)
    assert books.store.rejections() == {"forged": 1}


def test_a_statement_copied_to_another_place_is_a_replay(books: Books, ann: Peer) -> None:
    thief = Peer("thief")
    books.see(1, ann.reports(1, 100), thief.reports(1, 100))
    books.see(2, ann.reports(2, 0), thief.reports(2, 0))
    books.hear(Found(thief.slot, ann.claims(2, 110).data))
    assert books.total(ann) == 172
    assert books.store.rejections() == {"replayed": 1}


def test_an_older_statement_of_the_same_session_is_a_replay(books: Books, ann: Peer) -> None:
    books.see(1, ann.reports(1, 100))
    books.see(2, ann.reports(2, 0))
    older, newer = ann.claims(2, 110), ann.claims(2, 110)
    books.hear(newer, older)
    assert books.total(ann) == 172 + 110
    assert books.store.rejections() == {"replayed": 1}


@pytest.mark.parametrize("data", [b"", b"x" * 40, b"\x00" * 300, b"\xff" * 5000])
def test_what_is_no_statement_changes_nothing(books: Books, ann: Peer, data: bytes) -> None:
    books.hear(Found(ann.slot, data), Found(ann.slot, data))
    assert books.total(ann) == 172
    assert sum(books.store.rejections().values()) == 1, "each is logged once"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"run_id": "other"}, "of another run"),
        ({"peer": b"ben"}, "of another peer"),
        ({"slot": b"\x00" * 16}, "replayed"),
        ({"samples_per_second": float("nan")}, "malformed"),
        ({"rounds": ()}, None),
        ({"rounds": (Round(2, -5, 1.0),)}, "malformed"),
    ],
)
def test_a_statement_that_does_not_fit_its_place_counts_nothing(
    books: Books, ann: Peer, changes: dict[str, object], reason: str | None
) -> None:
    books.see(1, ann.reports(1, 100))
    books.see(2, ann.reports(2, 0))
    books.hear(ann.claims(2, 110, **changes))
    assert books.total(ann) == 172
    assert list(books.store.rejections()) == ([reason] if reason else [])


def test_a_name_that_misleads_is_not_shown(books: Books, ann: Peer) -> None:
    books.see(1, ann.reports(1, 100))
    books.see(2, ann.reports(2, 0))
    books.hear(ann.claims(2, 100, name="turn\u202eround"))
    entry = books.store.entry(ann.id)
    assert entry is not None
    assert entry.name is None
