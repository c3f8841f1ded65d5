"""A group waits for all that are expected and no longer; a peer that missed its update catches up by the average."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from core.swarm.dht.peer import own_addresses
from core.swarm.state.update_chain import Mark
from tests.swarm.averaging.member import Member
from tests.swarm.installed import installed

PATIENCE, LATE = 15.0, 3.0
"""Seconds that a group waits for its members at most, and that the last one is late."""
FIRST, SECOND, OTHER = (Mark(epoch, 2, name * 16) for epoch, name in ((1, "a"), (2, "b"), (1, "c")))


@pytest.fixture
def members(short_folder: Path) -> Iterator[list[Member]]:
    with installed(short_folder, 10.0), ExitStack() as opened:
        first = Member(short_folder, 1.0, [], opened, matchmaking_time=PATIENCE, expected=3)
        contact = own_addresses(first.dht)
        others = (
            Member(short_folder, value, contact, opened, matchmaking_time=PATIENCE, expected=3) for value in (2.0, 6.0)
        )
        yield [first, *others]


def test_a_group_waits_for_the_last_member_and_begins_as_soon_as_it_has_joined(members: list[Member]) -> None:
    *punctual, late = members
    began = time.monotonic()
    controls = [member.begin() for member in punctual]
    time.sleep(LATE)  # the last member is busy
    controls.append(late.begin())
    for control in controls:
        control.allow_allreduce()
    groups = [control.result(PATIENCE) for control in controls]
    assert time.monotonic() - began < PATIENCE
    assert [len(group) for group in groups] == [3, 3, 3]
    assert [member.gradient for member in members] == [3.0, 3.0, 3.0]


def test_a_group_begins_without_a_member_that_is_no_longer_expected(members: list[Member]) -> None:
    *present, _gone = members
    began = time.monotonic()
    controls = [member.begin() for member in present]
    for member in present:
        member.averager._expected_members = lambda: 2
    while not all(control.done() for control in controls):
        assert time.monotonic() - began < PATIENCE
        for member, control in zip(present, controls, strict=True):
            member.averager.expect_members()
            if not control.triggered:
                control.allow_allreduce()
        time.sleep(0.5)  # as often as the step asks for the others' progress
    assert [len(control.result()) for control in controls] == [2, 2]


def test_a_peer_that_missed_an_update_gets_its_average_if_it_continues_its_own(members: list[Member]) -> None:
    giver, taker, _ = members
    with giver.averager.get_tensors() as tensors:
        tensors[0].fill_(7.0)
    giver.averager.keep_average()
    with giver.averager.get_tensors() as tensors:
        tensors[0].fill_(0.0)  # the optimizer clips
    giver.averager.offer_update(2, (FIRST, SECOND))
    donors = [(giver.dht.peer_id, 2)]

    def fetch(own: tuple[Mark, ...], epoch: int = 2) -> object:
        return taker.averager.fetch_update(donors, own, epoch, lambda: False)

    missed = taker.averager.fetch_update(donors, (FIRST,), 2, lambda: False)
    assert missed is not None
    assert missed.updates == (FIRST, SECOND)
    taker.averager.load(missed.average)
    assert taker.gradient == 7.0
    assert fetch((OTHER,)) is None
    assert fetch(()) is None
    assert fetch((FIRST, SECOND), 3) is None
