"""How much a peer may weigh in an average."""

import math

from core.swarm.dht.credible_progress import PeerReport
from core.swarm.dht.weight_limits import weight_limits

NOW, BEGAN, SMALLEST = 1000.0, 990.0, 8


def report(name: bytes, samples: int = 0, speed: float = 10.0, *, epoch: int = 5, time: float = NOW) -> PeerReport:
    return PeerReport(name, name, epoch, samples, speed, time)


OWN = report(b"own", 100)


def most(
    peer: bytes, *known: PeerReport, newcomers: tuple[PeerReport, ...] = (), own: PeerReport = OWN, later: float = 0.0
) -> float:
    limits = weight_limits(own, known, newcomers, now=NOW, began=BEGAN, smallest=SMALLEST)
    return limits.most(peer, NOW + later)


def test_an_honest_peer_weighs_what_it_has() -> None:
    # By its report, by its speed if the report is of the last epoch, and when it has gone on since.
    assert most(b"A", report(b"A", 100)) >= 100
    assert most(b"A", report(b"A", 3, epoch=4)) >= 100
    assert most(b"A", report(b"A", 80, time=NOW - 2.0)) >= 100
    assert most(b"A", report(b"A", 100), later=3.0) >= 130
    # A slow one, whose first microbatch is not reported yet.
    assert most(b"A", report(b"A", 0, 0.1, epoch=4)) >= SMALLEST


def test_a_claim_of_a_billion_counts_as_far_as_the_report_goes() -> None:
    assert most(b"A", report(b"A", 100)) < 250


def test_a_newcomer_weighs_as_much_as_two_average_trainers_at_most() -> None:
    known = report(b"A", 100)
    assert most(b"X", known, newcomers=(report(b"X", 10**9, 1e9),)) == 2 * most(b"A", known)
    assert most(b"X", known, newcomers=(report(b"X", 10, 1.0),)) < most(b"A", known)
    assert most(b"nobody knows it", known) == 2 * most(b"A", known)


def test_a_second_record_in_anothers_name_takes_no_weight_from_it() -> None:
    known = report(b"A", 100)
    assert most(b"A", known, newcomers=(report(b"A", 0, 0.0),)) == most(b"A", known)


def test_where_nobody_is_known_nobody_is_limited() -> None:
    assert most(b"X", newcomers=(report(b"X", 100),)) >= 100
    assert most(b"X") == math.inf
