"""Which claims of volunteers the backbone believes."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from core.api.project.manifest import Training
from core.host.contribution_audit import Audit
from core.host.contribution_store import ContributionStore
from core.host.curve import Curve
from core.swarm.dht.contributions import Found, Round, Statement, sign, slot_of
from core.swarm.dht.credible_progress import PeerReport
from core.swarm.dht.run_monitor import RunProgress
from tests.learning.small_project import small_manifest

TARGET = 512
RUN = "run"


def training() -> Training:
    return msgspec.structs.replace(small_manifest().training, target_batch_size=TARGET, microbatch_size=16)


@dataclass
class Peer:
    """One session of a volunteer."""

    name: str
    key: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    speed: float = 50.0
    sequence: int = 0
    rounds: list[Round] = field(default_factory=list)

    @property
    def slot(self) -> bytes:
        return slot_of(self.name.encode())

    @property
    def id(self) -> str:
        return self.key.public_key().public_bytes_raw().hex()

    def reports(self, epoch: int, samples: int) -> tuple[bytes, PeerReport]:
        return self.slot, PeerReport(self.slot, self.name.encode(), epoch, samples, self.speed)

    def claims(self, epoch: int, samples: int, **changes: object) -> Found:
        self.sequence += 1
        self.rounds.append(Round(epoch, samples, 4.0))
        made = Statement(RUN, self.slot, self.name.encode(), self.sequence, tuple(self.rounds), self.speed, self.name)
        return Found(self.slot, sign(msgspec.structs.replace(made, **changes), self.key))


class Books:
    """An audit with its files and a clock."""

    def __init__(self, folder: Path) -> None:
        self.store, self.curve = ContributionStore(folder, RUN), Curve(folder, RUN, 4 * TARGET)
        self.now = 1000.0
        self.restart()

    def restart(self, *, knows_rounds: bool = False) -> None:
        self.audit = Audit(self.store, self.curve, RUN, training(), knows_rounds=knows_rounds)

    def see(self, epoch: int, *reports: tuple[bytes, PeerReport], made: int = 0) -> None:
        self.now += 1.0
        self.audit.observe(RunProgress(epoch=epoch, slots=dict(reports)), made, self.now)

    def meet(self, epoch: int, *peers: "Peer", full: bool = False) -> None:
        """The backbone makes the update that `epoch` begins with, together with them."""
        self.audit.add_round(epoch, frozenset(peer.slot for peer in peers), may_be_others=full)

    def hear(self, *found: Found) -> None:
        for each in found:
            self.audit.judge(each, self.now)

    def total(self, peer: Peer) -> int:
        entry = self.store.entry(peer.id)
        return entry.samples if entry else 0

    def close(self) -> None:
        self.store.close()
        self.curve.close()


@pytest.fixture
def books(tmp_path: Path) -> Iterator[Books]:
    opened = Books(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def ann(books: Books) -> Peer:
    """Has given 170 of the 512 samples of the first round, together with Ben and Cem."""
    peers = [Peer("ann"), Peer("ben"), Peer("cem")]
    books.see(0, *(peer.reports(0, 170) for peer in peers))
    books.see(1, *(peer.reports(1, 3) for peer in peers))
    books.hear(*(peer.claims(1, 172) for peer in peers))
    return peers[0]


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


def test_a_name_that_misleads_is_not_shown(books: Books, ann: Peer) -> None:
    books.see(1, ann.reports(1, 100))
    books.see(2, ann.reports(2, 0))
    books.hear(ann.claims(2, 100, name="turn\u202eround"))
    entry = books.store.entry(ann.id)
    assert entry is not None
    assert entry.name is None
