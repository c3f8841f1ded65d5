"""When a state may be used, and when a local copy is the run's present state."""

from typing import Any

import pytest
import torch
from hivemind.optim.state_averager import dump_optimizer_state

from core.api.project.manifest import Optimizer, Schedule
from core.learning.optimizers import learning_rate_factor, optimizer_factory, scheduler_factory
from core.swarm.errors import BadState
from core.swarm.state.checks import (
    Layout,
    check_digest,
    check_epoch,
    check_numbers,
    check_tensors,
    digest_of,
    is_still_present,
    newest_plausible,
)

SCHEDULE = Schedule("linear", warmup_epochs=4, total_epochs=40)
KINDS = [Optimizer("lamb", 0.01, weight_decay=0.1), Optimizer("adamw", 0.02), Optimizer("sgd", 0.03, momentum=0.9)]


class Peer:
    """An optimizer that has made some steps."""

    def __init__(self, declared: Optimizer, epochs: int = 0) -> None:
        self.parameters = [torch.nn.Parameter(torch.ones(3, 2)), torch.nn.Parameter(torch.ones(5))]
        self.optimizer = optimizer_factory(declared)(self.parameters)
        scheduler = scheduler_factory(SCHEDULE)(self.optimizer)
        for _ in range(epochs):
            for parameter in self.parameters:
                parameter.grad = torch.ones_like(parameter)
            self.optimizer.step()
            scheduler.step()
        self.numbers, tensors = dump_optimizer_state(self.optimizer)
        self.tensors = [*(parameter.detach() for parameter in self.parameters), *tensors]
        self.layout = Layout(
            tuple((tuple(tensor.shape), tensor.dtype) for tensor in self.tensors),
            len(self.parameters),
            tuple(self.numbers),
            self.optimizer.state_dict(),
            lambda epoch: [declared.learning_rate * learning_rate_factor(SCHEDULE, epoch)],
        )

    def with_value(self, old: Any, new: Any) -> list[Any]:
        changed = [{**one, "value": new} if one.get("value") == old else one for one in self.numbers]
        assert changed != self.numbers
        return changed


@pytest.mark.parametrize("declared", KINDS, ids=lambda declared: declared.type)
@pytest.mark.parametrize("epochs", [0, 1, 3, 17, 40])
def test_what_another_peer_has_trained_is_as_it_should_be(declared: Optimizer, epochs: int) -> None:
    newcomer, other = Peer(declared), Peer(declared, epochs)
    check_tensors(other.tensors, newcomer.layout.tensors)
    check_digest(digest_of(other.tensors), other.tensors)
    check_numbers(other.numbers, epochs, newcomer.layout)


@pytest.mark.parametrize("declared", KINDS, ids=lambda declared: declared.type)
def test_a_learning_rate_of_another_epoch_or_of_no_epoch_is_refused(declared: Optimizer) -> None:
    newcomer, other = Peer(declared), Peer(declared, 2)
    rate = other.optimizer.param_groups[0]["lr"]
    for epoch, numbers in [
        (3, other.numbers),
        (2, other.with_value(rate, 1e9)),
        (2, other.with_value(rate, float("nan"))),
        (2, other.with_value(rate, -rate)),
        (2, other.with_value(rate, "0.01")),
    ]:
        with pytest.raises(BadState, match="learning_rate_wrong"):
            check_numbers(numbers, epoch, newcomer.layout)


def test_other_settings_another_optimizer_and_nonsense_are_refused() -> None:
    newcomer, other = Peer(KINDS[0]), Peer(KINDS[0], 2)
    wrong: list[Any] = [
        other.with_value(0.1, 0.2),
        other.with_value(2, 10**9),
        Peer(KINDS[1], 2).numbers,
        other.numbers[:-1],
        [*other.numbers[:-1], {"type": "code"}],
        [*other.numbers[:-1], "text"],
        None,
        {},
    ]
    for numbers in wrong:
        with pytest.raises(BadState):
            check_numbers(numbers, 2, newcomer.layout)


def test_tensors_of_other_shapes_types_or_numbers_are_refused() -> None:
    peer = Peer(KINDS[1], 2)
    first, *rest = peer.tensors
    for tensors in (
        rest,
        [first[:1], *rest],
        [first.double(), *rest],
        [first.reshape(2, 3), *rest],
        [first / 0, *rest],
        [*peer.tensors, first],
    ):
        with pytest.raises(BadState):
            check_tensors(tensors, peer.layout.tensors)
    with pytest.raises(BadState, match="announced"):
        check_digest(digest_of(peer.tensors), [first + 1, *rest])
    with pytest.raises(BadState, match="announced"):
        check_digest(None, peer.tensors)


@pytest.mark.parametrize("epoch", [7, 8, 23])
def test_an_epoch_between_the_oldest_of_use_and_the_newest_plausible_is_taken(epoch: int) -> None:
    assert check_epoch(epoch, 7, newest_plausible(7)) == epoch


@pytest.mark.parametrize("epoch", [6, -1, 24, 10**6, None, "7", 7.0, True])
def test_any_other_epoch_is_refused(epoch: object) -> None:
    with pytest.raises(BadState):
        check_epoch(epoch, 7, newest_plausible(7))


@pytest.mark.parametrize(
    ("copy", "reported", "offered", "present"),
    [
        (7, 7, 7, True),
        # Peers give the epoch they had a moment ago, while one of them is already at the next.
        (7, 8, 7, False),
        # One behind offers, all are where the copy is.
        (7, 7, 6, True),
        # The run went back to an older checkpoint: a copy ahead of it would draw the others after it.
        (9, 7, 7, False),
        # Nobody works; the backbone has kept an older state, the same one, a newer one, or none.
        (7, None, 5, True),
        (7, None, 7, True),
        (7, None, 8, False),
        (7, None, None, True),
    ],
)
def test_a_copy_is_present_only_at_the_very_epoch_that_others_work_on(
    copy: int, reported: int | None, offered: int | None, present: bool
) -> None:
    assert is_still_present(copy, reported, offered) is present
