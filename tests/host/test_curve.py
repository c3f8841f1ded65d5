"""The learning curve: merged, kept, and closed to nonsense."""

import math
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from core.api.errors import WorldError
from core.api.project.demonstration import Demonstration, Span
from core.api.project.projects import Figure
from core.host.curve import Curve, Point


@pytest.fixture
def curve(tmp_path: Path) -> Iterator[Curve]:
    made = Curve(tmp_path, "run-1", most_samples=1000)
    yield made
    made.close()


def test_an_evaluation_keeps_its_figure_unless_that_is_not_a_number(curve: Curve) -> None:
    curve.add_evaluation(1, 5.5, at=10.0, figure=Figure("perplexity", 244.7))
    curve.add_evaluation(2, 5.4, at=11.0, figure=Figure("perplexity", math.inf))
    assert [point.figure for point in curve.points()] == [Figure("perplexity", 244.7), None]


def test_losses_of_peers_are_weighted_by_their_samples(curve: Curve) -> None:
    assert curve.add_training("a", epoch=1, loss=4.0, samples=100, at=10.0, current=1)
    assert curve.add_training("b", epoch=1, loss=8.0, samples=300, at=12.0, current=1)
    assert curve.points() == [Point(epoch=1, loss=7.0, evaluation_loss=None, peers=2, samples=400, at=12.0)]


def test_a_later_word_of_a_peer_replaces_its_earlier_one(curve: Curve) -> None:
    curve.add_training("a", epoch=1, loss=4.0, samples=100, at=10.0, current=1)
    assert curve.add_training("a", epoch=1, loss=3.0, samples=200, at=11.0, current=1)
    assert curve.points() == [Point(epoch=1, loss=3.0, evaluation_loss=None, peers=1, samples=200, at=11.0)]


def test_the_same_word_again_changes_nothing(curve: Curve) -> None:
    curve.add_training("a", epoch=1, loss=4.0, samples=100, at=10.0, current=1)
    version = curve.version
    assert not curve.add_training("a", epoch=1, loss=4.0, samples=100, at=99.0, current=1)
    assert curve.version == version
    assert curve.points()[0].at == 10.0


def test_evaluation_and_training_meet_in_one_point_an_epoch(curve: Curve) -> None:
    curve.add_evaluation(0, 7.6, at=1.0)
    curve.add_training("a", epoch=1, loss=4.0, samples=100, at=10.0, current=1)
    curve.add_evaluation(1, 5.0, at=11.0)
    assert [(point.epoch, point.loss, point.evaluation_loss, point.at) for point in curve.points()] == [
        (0, None, 7.6, 1.0),
        (1, 4.0, 5.0, 10.0),
    ]
    assert [point.epoch for point in curve.points(since=1)] == [1]


@pytest.mark.parametrize(
    ("epoch", "loss", "samples"),
    [
        (10, math.nan, 100),
        (10, math.inf, 100),
        (10, 1e30, 100),
        (10, 4.0, 0),
        (10, 4.0, -5),
        (10, 4.0, 1001),
        (10**6, 4.0, 100),
        (13, 4.0, 100),
        (-1, 4.0, 100),
    ],
)
def test_what_cannot_be_true_is_left_out(curve: Curve, epoch: int, loss: float, samples: int) -> None:
    assert not curve.add_training("a", epoch=epoch, loss=loss, samples=samples, at=1.0, current=10)
    assert curve.points() == []


def test_history_cannot_be_rewritten(curve: Curve) -> None:
    assert not curve.add_training("a", epoch=49, loss=4.0, samples=100, at=1.0, current=100)
    assert curve.add_training("a", epoch=50, loss=4.0, samples=100, at=1.0, current=100)


def test_a_diverged_evaluation_is_left_out(curve: Curve) -> None:
    assert not curve.add_evaluation(1, math.nan, at=1.0)
    assert curve.points() == []


def test_the_curve_outlives_the_process_and_belongs_to_its_run(tmp_path: Path) -> None:
    first = Curve(tmp_path, "run-1", most_samples=1000)
    first.add_evaluation(3, 5.0, at=1.0)
    first.close()
    again, other = Curve(tmp_path, "run-1", most_samples=1000), Curve(tmp_path, "run-2", most_samples=1000)
    assert [point.epoch for point in again.points()] == [3]
    assert other.points() == []
    again.close()
    other.close()


def test_the_last_demonstration_outlives_the_process(tmp_path: Path) -> None:
    first = Curve(tmp_path, "run-1", most_samples=1000)
    assert first.demonstration is None
    for epoch in (3, 4):
        first.show(Demonstration("continued_text", (Span("To be"), Span(" or", is_made=True)), b"\x89PNG", epoch))
    first.close()
    again = Curve(tmp_path, "run-1", most_samples=1000)
    assert again.demonstration is not None
    assert (again.demonstration.epoch, again.demonstration.picture) == (4, b"\x89PNG")
    again.close()


def test_a_demonstration_that_breaks_the_limits_is_none(curve: Curve) -> None:
    curve.show(Demonstration("continued_text", (Span("x" * 2001),)))
    assert curve.demonstration is None


def test_many_threads_write_at_once(curve: Curve) -> None:
    def report(peer: str) -> None:
        for epoch in range(50):
            curve.add_training(peer, epoch=epoch, loss=1.0, samples=1, at=1.0, current=50)

    threads = [Thread(target=report, args=(f"peer-{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(point.peers, point.samples) for point in curve.points()] == [(4, 4)] * 50


def test_a_damaged_file_is_one_sentence_and_is_kept(tmp_path: Path) -> None:
    (tmp_path / "curve-run-1.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(WorldError, match=r"record_unusable .*file is not a database"):
        Curve(tmp_path, "run-1", most_samples=1)
    assert (tmp_path / "curve-run-1.sqlite").read_bytes().startswith(b"not a database")
