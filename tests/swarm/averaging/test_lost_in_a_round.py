"""Rounds whose members vanish, or are not of the same epoch, between real averagers."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
import torch
from hivemind import DHT
from hivemind.averaging.control import AveragingStage, StepControl

from core.swarm.averaging.averagers import EpochGradientAverager
from core.swarm.dht.peer import join_swarm, own_addresses
from tests.swarm.installed import installed

TIMEOUT, SILENCE = 60.0, 2.0
"""Seconds. What a round that waits for somebody lost may take in hivemind, and what it takes here."""


class Member:
    """One peer's averager of gradients; its gradients are `value` everywhere."""

    def __init__(self, folder: Path, value: float, contact: list[str], opened: ExitStack) -> None:
        self.epoch = 0
        parameter = torch.nn.Parameter(torch.zeros(3))
        parameter.grad = torch.full((3,), value)
        self.dht: DHT = join_swarm(contact, folder / f"{value:g}.key")
        opened.callback(self.dht.shutdown)
        self.averager = EpochGradientAverager(
            epoch=lambda: self.epoch,
            parameters=[parameter],
            dht=self.dht,
            prefix="run",
            min_matchmaking_time=1.0,
            request_timeout=0.9,
            allreduce_timeout=TIMEOUT,
            next_chunk_timeout=TIMEOUT,
            start=True,
        )
        opened.callback(self.averager.shutdown)
        self.averager.accumulate_grads_(1)

    def begin(self) -> StepControl:
        self.averager.load_accumulators_into_averager_()
        control = self.averager.schedule_step(timeout=20.0)
        control.weight = 1.0
        return control

    @property
    def gradient(self) -> float:
        with self.averager.get_tensors() as tensors:
            (value,) = set(tensors[0].tolist())
            return float(value)


@pytest.fixture
def members(short_folder: Path) -> Iterator[list[Member]]:
    with installed(short_folder, SILENCE), ExitStack() as opened:
        first = Member(short_folder, 1.0, [], opened)
        contact = own_addresses(first.dht)
        yield [first, *(Member(short_folder, value, contact, opened) for value in (2.0, 6.0))]


def until_all_are_in_a_group(controls: list[StepControl]) -> None:
    deadline = time.monotonic() + 20.0
    while not all(control.stage == AveragingStage.AWAITING_TRIGGER for control in controls):
        assert time.monotonic() < deadline, [control.stage for control in controls]
        time.sleep(0.02)


def test_a_round_ends_soon_after_a_member_fell_silent_and_the_next_one_is_made_without_it(
    members: list[Member],
) -> None:
    controls = [member.begin() for member in members]
    until_all_are_in_a_group(controls)
    lost = psutil.Process(members[2].averager.pid)
    lost.suspend()
    try:
        for control in controls[:2]:
            control.allow_allreduce()
        began = time.monotonic()
        for control in controls[:2]:
            with pytest.raises(Exception, match=f"{members[2].dht.peer_id} of the group cannot be reached any more"):
                control.result(TIMEOUT)
        assert time.monotonic() - began < TIMEOUT / 2
        assert [member.gradient for member in members[:2]] == [1.0, 2.0]
        again = [member.begin() for member in members[:2]]
        for control in again:
            control.allow_allreduce()
        assert {len(control.result(TIMEOUT)) for control in again} == {2}
        assert [member.gradient for member in members[:2]] == [1.5, 1.5]
    finally:
        lost.resume()


def test_a_round_that_nobody_waits_for_is_ended_and_leaves_the_gradients_as_they_were(members: list[Member]) -> None:
    controls = [member.begin() for member in members]
    until_all_are_in_a_group(controls)
    controls[0].allow_allreduce()
    deadline = time.monotonic() + 20.0
    while controls[0].stage != AveragingStage.RUNNING_ALLREDUCE:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    members[0].averager.drop_rounds()
    with pytest.raises(Exception, match="Unable to run All-Reduce"):
        controls[0].result(TIMEOUT / 2)
    assert members[0].gradient == 1.0


def test_peers_of_different_epochs_do_not_meet(members: list[Member]) -> None:
    members[2].epoch = 1
    controls = [member.begin() for member in members]
    for control in controls:
        control.allow_allreduce()
    assert {len(control.result(TIMEOUT)) for control in controls[:2]} == {2}
    assert [member.gradient for member in members] == [1.5, 1.5, 6.0]
    with pytest.raises(Exception, match="could not find a group"):
        controls[2].result(TIMEOUT)
