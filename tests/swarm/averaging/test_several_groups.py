"""More peers than one group holds, most of which nobody can call."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hivemind.averaging.control import AveragingStage

from core.swarm.averaging.group_formation import count_of_groups
from core.swarm.dht.peer import LOOPBACK, own_addresses
from tests.swarm.averaging.peers.member import Member, round_of
from tests.swarm.installed import installed
from tests.waiting import wait_for

PATIENCE = 15.0
"""Seconds that a group waits for its members at most."""
LEFT_OUT_WITHIN = 5.0
"""Seconds: a check who is missing, its silence, and a round."""


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
