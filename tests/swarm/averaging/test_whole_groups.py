"""A group waits for all that are expected and no longer."""

import asyncio
import gc
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hivemind.averaging.control import AveragingStage, StepControl

from core.swarm.averaging.gradient_averager import EpochGradientAverager
from core.swarm.connectivity.ping import SEARCH_INTERVAL, SILENCE, Pinger
from core.swarm.dht.peer import own_addresses
from tests.swarm.averaging.peers.member import Member, round_of
from tests.swarm.installed import installed
from tests.waiting import wait_for

PATIENCE, LATE = 15.0, 3.0
"""Seconds that a group waits for its members at most, and that the last one is late."""
LEFT_OUT_WITHIN = 5.0
"""Seconds: a check who is missing, its silence, and a round."""


def others(members: list[Member], value: float) -> dict[bytes, float]:
    """Whom the member of this value expects."""
    return {other.dht.peer_id.to_bytes(): 0.0 for other in members if other.value != value}


@pytest.fixture
def members(short_folder: Path) -> Iterator[list[Member]]:
    made: list[Member] = []

    def make(value: float, contact: list[str]) -> Member:
        expected = partial(others, made, value)
        made.append(Member(short_folder, value, contact, opened, matchmaking_time=PATIENCE, expected=expected))
        return made[-1]

    with installed(short_folder), ExitStack() as opened:
        first = make(1.0, [])
        contact = own_addresses(first.dht)
        make(2.0, contact), make(6.0, contact)
        yield made


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
    *present, gone = members
    began = time.monotonic()
    controls = [member.begin() for member in present]
    members.remove(gone)
    while not all(control.done() for control in controls):
        assert time.monotonic() - began < PATIENCE
        for member, control in zip(present, controls, strict=True):
            member.averager.update_expected_peers()
            if not control.triggered:
                control.allow_allreduce()
        time.sleep(0.5)  # as often as the step asks for the others' progress
    assert [len(control.result()) for control in controls] == [2, 2]


def test_a_group_begins_without_a_member_that_has_vanished(members: list[Member]) -> None:
    *present, gone = members
    assert round_of(members)[0] == 3
    with gone.vanished():
        size, seconds = round_of(present)
        assert (size, seconds < LEFT_OUT_WITHIN) == (2, True)
        # It is not waited for again.
        size, seconds = round_of(present)
        assert (size, seconds < SILENCE) == (2, True)


def test_a_peer_that_finds_nobody_does_not_ping_all_for_ever(
    short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pings, ping = multiprocessing.Value("i", 0), Pinger.ping

    async def counted(self: Pinger) -> None:
        with pings.get_lock():
            pings.value += 1
        await ping(self)

    monkeypatch.setattr(Pinger, "ping", counted)
    made: list[Member] = []
    with installed(short_folder), ExitStack() as opened:
        for value in (1.0, 2.0):
            contact = own_addresses(made[0].dht) if made else []
            options: Any = {"matchmaking_time": PATIENCE, "expected": partial(others, made, value)}
            made.append(Member(short_folder, value, contact, opened, **options))
        early = made[0].begin(40.0)
        wait_for(lambda: pings.value > 0, 10.0)
        last, changed = 0, 0.0

        def is_quiet() -> bool:
            nonlocal last, changed
            if last != (last := pings.value):
                changed = time.monotonic()
            return time.monotonic() > changed + 1.5 * SEARCH_INTERVAL

        wait_for(is_quiet, 25.0, "it pings nobody any more")
        late = made[1].begin()
        for control in (early, late):
            control.allow_allreduce()
        assert [len(control.result(PATIENCE)) for control in (early, late)] == [2, 2]


class Tidy(EpochGradientAverager):
    """Collects the garbage of its process all the time."""

    _collecting: asyncio.Task[None] | None = None

    async def _meet_in(self, epoch: int) -> None:
        await super()._meet_in(epoch)
        if self._collecting is None:
            gc.freeze()  # all that the libraries made, which takes long to search
            self._collecting = asyncio.create_task(self._collect())

    async def _collect(self) -> None:
        while True:
            gc.collect()
            await asyncio.sleep(0.001)


@pytest.mark.timeout(120)
def test_a_group_is_found_after_searches_that_were_given_up(short_folder: Path) -> None:
    with installed(short_folder), ExitStack() as opened:
        first = Member(short_folder, 1.0, [], opened, kind=Tidy)
        members = [first, Member(short_folder, 2.0, own_addresses(first.dht), opened, kind=Tidy)]
        for number in range(5):
            control = members[number % 2].begin()
            wait_for(partial(is_searching, control), 10.0)
            time.sleep(0.3)  # it announces itself
            control.cancel()
        assert round_of(members)[0] == 2


def is_searching(control: StepControl) -> bool:
    return bool(control.stage == AveragingStage.LOOKING_FOR_GROUP)
