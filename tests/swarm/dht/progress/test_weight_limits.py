"""How much a peer may weigh in an average."""

import math

from core.swarm.dht.progress.credible_progress import PeerReport
from core.swarm.dht.progress.weight_limits import weight_limits

NOW, BEGAN, SMALLEST = 1000.0, 990.0, 8


def report(name: bytes, samples: int = 0, speed: float = 10.0, *, epoch: int = 5, time: float = NOW) -> PeerReport:
    return PeerReport(name, name, epoch, samples, speed, time)


OWN = report(b"own", 100)


def most(
    peer: bytes,
    *known: PeerReport,
    newcomers: tuple[PeerReport, ...] = (),
    members: tuple[bytes, ...] = (),
    later: float = 0.0,
) -> float:
    """`members` of the group beside the known ones and `peer`."""
    limits = weight_limits(OWN, known, newcomers, now=NOW, began=BEGAN, smallest=SMALLEST)
    return limits.most(peer, {*members, *(report.peer_id for report in known), peer}, NOW + later)


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


def test_a_newcomer_weighs_as_much_as_one_average_trainer_at_most() -> None:
    known = report(b"A", 100)
    assert most(b"X", known, newcomers=(report(b"X", 10**9, 1e9),)) == most(b"A", known)
    assert most(b"X", known, newcomers=(report(b"X", 10, 1.0),)) < most(b"A", known)
    assert most(b"nobody knows it", known) == most(b"A", known)


def test_a_hundred_newcomers_weigh_together_what_one_does() -> None:
    known = report(b"A", 100)
    names = tuple(b"X%d" % number for number in range(100))
    crowd = tuple(report(name, 10**9, 1e9) for name in names)
    together = [most(name, known, newcomers=crowd, members=names) for name in names]
    assert sum(together) <= 1.001 * most(b"X0", known, newcomers=crowd[:1])
    assert sum(most(name, known, members=names) for name in names) <= 1.001 * most(b"unknown", known)
    assert most(b"A", known, newcomers=crowd, members=names) == most(b"A", known)


def test_one_that_adds_no_samples_weighs_nothing_and_takes_nothing_from_newcomers() -> None:
    known, auxiliary = report(b"A", 100), report(b"B", 0, 1e-20)
    alone = most(b"X", known, newcomers=(report(b"X", 10**9),))
    assert most(b"B", known, newcomers=(auxiliary,)) == 0.0
    assert most(b"X", known, newcomers=(report(b"X", 10**9), auxiliary), members=(b"B",)) == alone
    assert most(b"X", known, newcomers=(report(b"X", 10**9), report(b"X", 0, 1e-20))) == alone


def test_a_second_record_in_anothers_name_takes_no_weight_from_it() -> None:
    known = report(b"A", 100)
    assert most(b"A", known, newcomers=(report(b"A", 0, 0.0),)) == most(b"A", known)


def test_where_nobody_is_known_nobody_is_limited() -> None:
    assert most(b"X", newcomers=(report(b"X", 100),)) >= 100
    assert most(b"X") == math.inf
