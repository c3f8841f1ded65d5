"""Which sessions validate other peers."""

from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest
import torch

from core.api.project.tasks import MaskedLanguageModelling, Swav
from core.learning.order import Piece
from core.swarm.dht.work_records import Found
from core.trainer.build import peer_validation_of
from core.trainer.microbatch import Stopped
from core.trainer.peer_validation import SHARE, NoPeerValidation, PeerValidation
from tests.learning.small_project import small_manifest


def optimizer_of(accused: frozenset[str] = frozenset()) -> Mock:
    """Of a peer that can be called, in a run of one group, some of whose members are accused."""
    return Mock(client_mode=False, is_one_group=True, accusations=Mock(accused=accused))


def case_of(pieces: list[Piece] | None, *, has_refused: bool = False) -> Mock:
    """A member whose record was looked for."""
    return Mock(is_found=True, found=Found(pieces, others=True, has_refused=has_refused), evidence=Mock(peer="ann"))


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        (MaskedLanguageModelling(sequence_length=16), PeerValidation),
        (Swav(), PeerValidation),
        (Swav(queue_length=64), NoPeerValidation),
    ],
)
def test_nobody_validates_what_cannot_be_computed_again(task: Any, kind: type) -> None:
    """With a queue of its own, another peer's gradients would look wrong."""
    manifest = msgspec.structs.replace(small_manifest(), task=task)
    assert type(peer_validation_of(Mock(), Mock(), Mock(), manifest)) is kind


def test_a_validation_that_a_pause_interrupts_is_given_up_and_judges_nobody() -> None:
    """The gradients of a piece are missing: what is left would not be those of the member."""
    optimizer = optimizer_of()
    validation = PeerValidation(optimizer, torch.nn.Linear(1, 1), Mock(), tolerance=0.1, clock=lambda: 1e9)
    validation._due_at = 0.0
    validation._recent, validation._spent = {3: []}, 20.0
    validation._case = case_of([])
    validation._case.recomputation.step.side_effect = Stopped
    with pytest.raises(Stopped):
        validation.step()
    assert validation._case is None
    assert validation._due_at >= 1e9
    assert not validation._recent, "parameters of the next case are others"
    assert validation._spent == 0.0
    optimizer.distrust.ban.assert_not_called()
    optimizer.work.accuse.assert_not_called()


def test_a_case_that_takes_too_long_is_given_up_and_judges_nobody() -> None:
    optimizer, now = optimizer_of(), [1e9]

    def compute() -> bool:
        now[0] += 70.0
        return True

    validation = PeerValidation(optimizer, torch.nn.Linear(1, 1), Mock(), tolerance=0.1, clock=lambda: now[0])
    validation._case = case_of([])
    validation._case.recomputation.step.side_effect = compute
    for _step in range(9):
        now[0] = max(now[0], validation._rests_until, validation._begins_at)
        validation.step()
        assert validation._case is not None or _step == 8
    assert validation._case is None
    assert validation._due_at > now[0] + 0.4 * 630 / SHARE
    optimizer.distrust.ban.assert_not_called()


def test_a_case_that_does_not_fit_into_the_memory_is_given_up() -> None:
    optimizer = optimizer_of()
    validation = PeerValidation(optimizer, torch.nn.Linear(1, 1), Mock(), tolerance=0.1, largest=lambda: 4)
    for count, is_given_up in ((5, True), (4, False)):
        validation._due_at = 0.0
        validation._case = case_of([Piece(5, 0, count)])
        validation.step()
        assert (validation._case is None) == is_given_up
    optimizer.distrust.ban.assert_not_called()


class Run:
    """A peer that computes all the time, and whose validations each take so many seconds of it."""

    def __init__(self, seconds: float, deviation_of: Callable[[str], float]) -> None:
        self.now, self.spent, self.judged = 1e6, 0.0, list[str]()
        self.optimizer = optimizer_of()
        self._seconds, self._deviation_of = seconds, deviation_of
        self.validation = PeerValidation(
            self.optimizer, torch.nn.Linear(1, 1), Mock(), tolerance=0.1, clock=lambda: self.now
        )
        self.validation._due_at = self.now + 1000.0
        self.validation._watch = self._see  # type: ignore[method-assign]

    def _see(self) -> None:
        """What one brought to a round: the one that is suspected, or another one in turn."""
        among = sorted(self.validation._verdicts.suspects | self.optimizer.accusations.accused) or ["ann"]
        peer = among[len(self.judged) // 2 % len(among)] if len(self.judged) % 2 == 0 else "ben"
        case = case_of([])
        case.evidence.peer = peer
        case.evidence.deviation.return_value = self._deviation_of(peer)
        case.recomputation.step.side_effect = self._compute
        self.validation._case = case
        self.judged.append(peer)

    def _compute(self) -> bool:
        self.now += self._seconds
        self.spent += self._seconds
        return False

    def go_on(self, seconds: float) -> None:
        until = self.now + seconds
        while self.now < until:
            self.now += 1.0
            self.validation.step()


def test_who_is_accused_is_validated_before_it_is_due_and_left_out_by_what_was_found_here() -> None:
    run = Run(5.0, lambda peer: 1.0 if peer == "liar" else 0.0)
    run.go_on(100.0)
    assert run.judged == []
    run.optimizer.accusations.accused = frozenset({"liar"})
    run.go_on(100.0)
    assert run.judged == ["liar", "ben", "liar"], "it failed twice, and another one passed in between"
    assert run.optimizer.distrust.ban.call_args.args[:2] == ("liar", "gradient_wrong")
    run.optimizer.work.accuse.assert_called_once_with("liar")


def test_who_passes_is_not_validated_again_on_the_same_word() -> None:
    run = Run(5.0, lambda _peer: 0.0)
    run.optimizer.accusations.accused = frozenset({"honest"})
    run.go_on(500.0)
    assert run.judged == ["honest"]
    run.optimizer.distrust.ban.assert_not_called()


def watched(validation: PeerValidation, optimizer: Mock) -> frozenset[str]:
    """Whom it looks for in the next round first."""
    optimizer.local_epoch, optimizer.grad_averager.read_evidence.return_value = 0, []
    validation._is_watching, validation._recent = False, {0: []}
    validation._watch()
    suspects: frozenset[str] = optimizer.grad_averager.watch.call_args.args[0].suspects
    return suspects


def test_who_passes_or_cannot_be_validated_is_not_looked_for_again_on_the_same_word() -> None:
    optimizer = optimizer_of(frozenset({"ann", "ben"}))
    validation = PeerValidation(optimizer, torch.nn.Linear(1, 1), Mock(), tolerance=0.1, largest=lambda: 4)
    assert watched(validation, optimizer) == {"ann", "ben"}
    has_left = Mock(is_found=True, found=Found(None, others=False), evidence=Mock(peer="ann"))
    for case in (case_of([Piece(5, 0, 5)]), has_left):
        validation._heard, validation._due_at, validation._case = frozenset(), 0.0, case
        validation.step()
        assert validation._case is None
        assert watched(validation, optimizer) == {"ben"}
    validation._heard = frozenset()
    validation._due_at, validation._case = 0.0, case_of(None)
    validation.step()
    assert watched(validation, optimizer) == {"ann", "ben"}, "it is there, and says nothing"


def test_whoever_is_accused_however_often_a_peer_computes_no_more_than_an_hours_share_ahead() -> None:
    run = Run(20.0, lambda _peer: 0.0)
    day = 86_400.0
    for minute in range(int(day / 60)):
        run.optimizer.accusations.accused = frozenset({f"key {minute}", f"key {minute + 1}"})
        run.go_on(60.0)
    assert SHARE * day * 0.8 < run.spent < SHARE * (day + 3600.0) * 1.2 + 20.0


@pytest.mark.parametrize(("has_refused", "times"), [(True, 3), (False, 6)])
def test_who_publishes_nothing_of_its_work_is_left_out_too(has_refused: bool, times: int) -> None:
    """As one that says that its program is too old for that."""
    optimizer = optimizer_of()
    validation = PeerValidation(optimizer, torch.nn.Linear(1, 1), Mock(), tolerance=0.1, clock=lambda: 1e9)
    for _time in range(times):
        optimizer.distrust.ban.assert_not_called()
        validation._due_at, validation._case = 0.0, case_of(None, has_refused=has_refused)
        validation.step()
    assert optimizer.distrust.ban.call_args.args[:2] == ("ann", "gradient_wrong")
    optimizer.work.accuse.assert_called_once_with("ann")


def test_whether_a_portion_is_here_is_asked_once_for_all_pieces_of_a_case() -> None:
    asked = list[int]()

    def has_portion(portion: int) -> bool:
        asked.append(portion)
        return True

    validation = PeerValidation(
        optimizer_of(), torch.nn.Linear(1, 1), Mock(),
        tolerance=0.1, portions=3, has_portion=has_portion, clock=lambda: 1e9,
    )  # fmt: skip
    validation._due_at = 0.0
    validation._case = case_of([Piece(5, at, 1, 2) for at in range(1000)])
    validation.step()
    assert asked == [2]
