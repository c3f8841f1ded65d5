"""A group waits for all that are expected and no longer; a peer that missed its update catches up by the average."""

import asyncio
import gc
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from hivemind.averaging.control import AveragingStage, StepControl
from hivemind.compression import Float16Compression

from core.swarm.averaging.gradient_averager import EpochGradientAverager
from core.swarm.averaging.group_formation import count_of_groups
from core.swarm.connectivity.ping import SILENCE
from core.swarm.dht.peer import LOOPBACK, own_addresses
from core.swarm.state.update_chain import ChainedUpdate, UpdateChain
from tests.swarm.averaging.member import Member
from tests.swarm.installed import installed
from tests.waiting import wait_for

PATIENCE, LATE = 15.0, 3.0
"""Seconds that a group waits for its members at most, and that the last one is late."""
LEFT_OUT_WITHIN = 5.0
"""Seconds: a check who is missing, its silence, and a round."""
FIRST, SECOND, OTHER = (ChainedUpdate(epoch, 2, digit * 16) for epoch, digit in ((1, "a"), (2, "b"), (1, "c")))


@pytest.fixture
def members(short_folder: Path) -> Iterator[list[Member]]:
    made: list[Member] = []

    def make(value: float, contact: list[str]) -> Member:
        def expected() -> dict[bytes, float]:
            return {other.dht.peer_id.to_bytes(): 0.0 for other in made if other.value != value}

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


def round_of(members: list[Member]) -> tuple[int, float]:
    """The size of the group and the seconds until all have its average."""
    began = time.monotonic()
    controls = [member.begin() for member in members]
    for control in controls:
        control.allow_allreduce()
    (size,) = {len(control.result(PATIENCE)) for control in controls}
    return size, time.monotonic() - began


def test_a_peer_that_missed_an_update_gets_its_average_if_it_continues_its_own(members: list[Member]) -> None:
    giver, taker, _ = members
    with giver.averager.get_tensors() as tensors:
        tensors[0].fill_(7.0)
    giver.averager.keep_average()
    with giver.averager.get_tensors() as tensors:
        tensors[0].fill_(0.0)  # the optimizer clips
    giver.averager.offer_update(2, (FIRST, SECOND))
    donors = [(giver.dht.peer_id, 2)]

    def fetch(own: UpdateChain, epoch: int = 2) -> object:
        return taker.averager.fetch_update(donors, own, epoch, lambda: False)

    missed = taker.averager.fetch_update(donors, (FIRST,), 2, lambda: False)
    assert missed is not None
    assert missed.updates == (FIRST, SECOND)
    taker.averager.load(missed.average)
    assert taker.gradient == 7.0
    assert fetch((OTHER,)) is None
    assert fetch(()) is None
    assert fetch((FIRST, SECOND), 3) is None


def test_the_last_two_averages_are_kept_in_as_many_bits_as_they_were_averaged_in(short_folder: Path) -> None:
    with installed(short_folder), ExitStack() as opened:
        giver = Member(short_folder, 1.0, [], opened, compression=Float16Compression())
        taker = Member(short_folder, 2.0, own_addresses(giver.dht), opened, compression=Float16Compression())
        chain = tuple(ChainedUpdate(epoch, 2, f"{epoch:016x}") for epoch in range(1, 5))
        for epoch in (2, 3, 4):
            with giver.averager.get_tensors() as tensors:
                tensors[0].fill_(1e5 * (epoch - 2) + epoch)
            giver.averager.keep_average()
            giver.averager.offer_update(epoch, chain[:epoch])

        def fetched(epoch: int) -> list[torch.Tensor] | None:
            donors = [(giver.dht.peer_id, 4)]
            missed = taker.averager.fetch_update(donors, chain[: epoch - 1], epoch, lambda: False)
            return None if missed is None else missed.average

        assert fetched(2) is None
        for epoch in (3, 4):
            (average,) = fetched(epoch) or [torch.zeros(0)]
            assert average.dtype == torch.float16
            assert set(average.tolist()) == {65504.0}  # the largest one; a round would give no more
        assert giver.averager.average_size == 3 * 2


@contextmanager
def run_of(
    folder: Path, backbones: int, callers: int, size: int, patience: float = PATIENCE, **options: Any
) -> Iterator[list[Member]]:
    """Backbones, which are the first, and peers that nobody can call; groups of `size` if there are leaders enough."""
    made: list[Member] = []

    def ids(value: float, most: int | None = None) -> list[bytes]:
        return [other.dht.peer_id.to_bytes() for other in made[:most] if other.value != value]

    def reports(value: float) -> dict[bytes, float]:
        return {other.dht.peer_id.to_bytes(): other.reported_at for other in made if other.value != value}

    with installed(folder), ExitStack() as opened:
        for number in range(backbones + callers):
            value, is_backbone = number + 1.0, number < backbones
            made.append(
                Member(
                    *(folder, value, own_addresses(made[0].dht) if made else [], opened),
                    matchmaking_time=patience,
                    expected=partial(reports, value),
                    leaders=partial(ids, value, backbones),
                    target_group_size=size,
                    apart_from=partial(ids, value, backbones if is_backbone else 0),
                    adds_samples=not is_backbone,
                    listen=LOOPBACK if is_backbone else None,
                    **options,
                )
            )
        yield made


def sizes_in(members: list[Member], epoch: int) -> list[int]:
    """Of the group of each of them in a round of that epoch."""
    for member in members:
        member.epoch = epoch
    controls = [member.begin() for member in members]
    for control in controls:
        control.allow_allreduce()
    return [len(control.result(PATIENCE + 5.0)) for control in controls]


def test_each_backbone_has_a_group_of_its_own_where_one_cannot_hold_all(short_folder: Path) -> None:
    with run_of(short_folder, 2, 4, size=3) as members:
        for epoch in range(3):
            assert sizes_in(members, epoch) == [3] * 6


def test_callers_for_whom_there_is_no_room_in_any_group_make_the_group_of_their_only_backbone_larger(
    short_folder: Path,
) -> None:
    with run_of(short_folder, 1, 4, size=3) as members:
        for epoch in range(3):
            began = time.monotonic()
            assert sizes_in(members, epoch) == [5] * 5
            assert time.monotonic() - began < LEFT_OUT_WITHIN


def test_groups_are_of_the_same_size_and_none_waits_for_a_member_that_another_one_has(short_folder: Path) -> None:
    with run_of(short_folder, 2, 5, size=5) as members:
        for epoch in range(3):
            began = time.monotonic()
            assert sorted(sizes_in(members, epoch)) == [3] * 3 + [4] * 4
            assert time.monotonic() - began < LEFT_OUT_WITHIN


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize(("backbones", "sizes"), [(1, [21]), (2, [11, 11])])
def test_twenty_callers_find_room_at_one_backbone_or_at_two(
    short_folder: Path, backbones: int, sizes: list[int]
) -> None:
    with run_of(short_folder, backbones, 20, size=16) as members:
        for epoch in range(3):
            began = time.monotonic()
            found = sizes_in(members, epoch)
            print(f"{backbones} backbones: groups of {sorted(set(found))} after {time.monotonic() - began:.1f} s")
            assert sorted(found) == [size for size in sizes for _ in range(size)]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("lost", [1, 7], ids=["a backbone", "a caller"])
@pytest.mark.parametrize("peers", [8, 16])
def test_a_peer_that_vanishes_costs_a_large_group_no_more_than_a_small_one(
    short_folder: Path, peers: int, lost: int
) -> None:
    """Two backbones reduce for the others. One is lost while a group forms, and another time in a round."""
    with run_of(short_folder, 2, peers - 2, size=peers) as members:
        assert round_of(members)[0] == peers
        others = [member for number, member in enumerate(members) if number != lost]
        with members[lost].vanished():
            size, seconds = round_of(others)
            print(f"{peers} peers, one lost while a group forms: {seconds:.1f} s")
            assert (size, seconds < LEFT_OUT_WITHIN) == (peers - 1, True)
        # It is expected again once it reports.
        for member in members:
            member.epoch = 1
            member.reported_at = 1.0
        controls = [member.begin() for member in members]
        wait_for(lambda: all(control.stage == AveragingStage.AWAITING_TRIGGER for control in controls), PATIENCE)
        with members[lost].vanished():
            began = time.monotonic()
            for number, control in enumerate(controls):
                if number != lost:
                    control.allow_allreduce()
            failed = [control.exception(PATIENCE) for control in controls if control is not controls[lost]]
            if all(failed):
                assert round_of(others)[0] == peers - 1
            seconds = time.monotonic() - began
            print(f"{peers} peers, one lost in a round: {seconds:.1f} s until the others have an average")
            assert seconds < LEFT_OUT_WITHIN


def test_a_backbone_takes_no_more_than_its_organiser_lets_it(short_folder: Path) -> None:
    with run_of(short_folder, 1, 3, size=2, patience=LEFT_OUT_WITHIN, most_members=3) as members:
        for member in members:
            member.epoch = 1
        controls = [member.begin(timeout=LEFT_OUT_WITHIN + 1.0) for member in members]
        for control in controls:
            control.allow_allreduce()
        assert len(controls[0].result(LEFT_OUT_WITHIN)) == 3
        assert sorted(control.exception(PATIENCE) is None for control in controls) == [False, True, True, True]


@pytest.mark.parametrize(
    ("peers", "leaders", "groups"),
    [(16, 1, 1), (17, 1, 1), (17, 2, 2), (21, 1, 1), (22, 2, 2), (60, 6, 4), (60, 2, 2), (5, 0, 1)],
)
def test_peers_form_as_few_groups_as_have_room_for_them_and_a_leader_each(
    peers: int, leaders: int, groups: int
) -> None:
    assert count_of_groups(peers, leaders, 16) == groups
