"""Rounds whose members vanish, or are not of the same epoch, between real averagers."""

import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack
from pathlib import Path

import pytest
from hivemind.averaging.control import AveragingStage, StepControl
from hivemind.averaging.matchmaking import MatchmakingException

from core.swarm.connectivity.ping import SILENCE
from core.swarm.dht.peer import own_addresses
from tests.swarm.averaging.peers.member import TIMEOUT, Member
from tests.swarm.installed import installed


@pytest.fixture
def members(short_folder: Path) -> Iterator[list[Member]]:
    with installed(short_folder), ExitStack() as opened:
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
    lost = members[2].dht.peer_id
    with members[2].vanished():
        for control in controls[:2]:
            control.allow_allreduce()
        began = time.monotonic()
        for control in controls[:2]:
            with pytest.raises(Exception, match=f"{lost} of the group cannot be reached any more"):
                control.result(TIMEOUT)
        assert time.monotonic() - began < SILENCE + 1.5
        assert [member.gradient for member in members[:2]] == [1.0, 2.0]
        again = [member.begin() for member in members[:2]]
        for control in again:
            control.allow_allreduce()
        assert {len(control.result(TIMEOUT)) for control in again} == {2}
        assert [member.gradient for member in members[:2]] == [1.5, 1.5]


def test_a_round_fails_at_once_if_a_member_has_given_it_up_and_the_next_one_is_made_with_it(
    members: list[Member],
) -> None:
    controls = [member.begin() for member in members]
    until_all_are_in_a_group(controls)
    controls[2].cancel()
    began = time.monotonic()
    for control in controls[:2]:
        control.allow_allreduce()
    for control in controls[:2]:
        with pytest.raises(Exception, match="a peer that averaged a part for all was lost"):
            control.result(TIMEOUT)
    assert time.monotonic() - began < SILENCE
    assert [member.gradient for member in members] == [1.0, 2.0, 6.0]
    again = [member.begin() for member in members]
    for control in again:
        control.allow_allreduce()
    assert {len(control.result(TIMEOUT)) for control in again} == {3}


def test_a_round_that_nobody_waits_for_is_ended_and_leaves_the_gradients_as_they_were(members: list[Member]) -> None:
    controls = [member.begin() for member in members]
    until_all_are_in_a_group(controls)
    controls[0].allow_allreduce()
    deadline = time.monotonic() + 20.0
    while controls[0].stage != AveragingStage.RUNNING_ALLREDUCE:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    members[0].averager.drop_rounds()
    # Cancelled, if its parts were not prepared yet.
    with pytest.raises((MatchmakingException, CancelledError)):
        controls[0].result(TIMEOUT / 2)
    assert members[0].gradient == 1.0


def test_a_round_in_which_nobody_has_samples_fails_and_leaves_the_gradients_as_they_were(members: list[Member]) -> None:
    controls = [member.begin() for member in members]
    for control in controls:
        control.weight = 0.0
        control.allow_allreduce()
    for control in controls:
        with pytest.raises(Exception, match="Unable to run All-Reduce"):
            control.result(TIMEOUT)
    assert [member.gradient for member in members] == [1.0, 2.0, 6.0]


def test_peers_of_different_epochs_do_not_meet(members: list[Member]) -> None:
    members[2].epoch = 1
    controls = [member.begin(timeout=5.0) for member in members]
    for control in controls:
        control.allow_allreduce()
    assert {len(control.result(TIMEOUT)) for control in controls[:2]} == {2}
    assert [member.gradient for member in members] == [1.5, 1.5, 6.0]
    with pytest.raises(Exception, match="could not find a group"):
        controls[2].result(TIMEOUT)


def test_each_of_many_rounds_ends_as_soon_as_all_have_the_average(members: list[Member]) -> None:
    """The members ask each other whether they still answer, and the end of a round may meet an answer."""
    for number in range(12):
        controls = [member.begin() for member in members]
        for control in controls:
            control.allow_allreduce()
        for control in controls:
            while not control.done() and control.stage != AveragingStage.RUNNING_ALLREDUCE:
                time.sleep(0.005)
        began = time.monotonic()
        assert {len(control.result(TIMEOUT)) for control in controls} == {3}
        assert time.monotonic() - began < SILENCE, number
