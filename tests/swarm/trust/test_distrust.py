"""Who is left out, why and for how long."""

from typing import get_args

import pytest

from core.swarm.trust.distrust import Distrust, Drop, Offence

BROKEN = [offence for offence in get_args(Offence) if offence != "fell_silent"]


@pytest.mark.parametrize("offence", BROKEN)
def test_broken_data_counts_at_once(offence: Offence) -> None:
    drops: list[Drop] = []
    distrust = Distrust(drops.append)
    distrust.add("X", offence, 100.0)
    assert distrust.peers(100.0) == distrust.peers(159.0) == {"X"}
    assert distrust.peers(160.0) == frozenset()
    assert drops == [Drop("X", offence, 100.0, 60.0)]


def test_each_time_lasts_twice_as_long_and_what_comes_meanwhile_changes_nothing() -> None:
    drops: list[Drop] = []
    distrust = Distrust(drops.append)
    for at in (0.0, 1.0, 59.0, 60.0, 100.0, 180.0):
        distrust.add("X", "part_malformed", at)
    assert [(drop.at, drop.seconds) for drop in drops] == [(0.0, 60.0), (60.0, 120.0), (180.0, 240.0)]


def test_a_line_may_be_lost_once_but_not_in_two_rounds_in_a_row() -> None:
    distrust = Distrust()
    distrust.add("X", "fell_silent", 0.0)
    assert not distrust.peers(0.0)
    distrust.add_round(["X", "Y"])
    distrust.add("X", "fell_silent", 10.0)
    assert not distrust.peers(10.0)
    distrust.add_round(["Y"])
    distrust.add("X", "fell_silent", 20.0)
    assert distrust.peers(20.0) == {"X"}


def test_who_was_only_silent_is_taken_into_no_group_and_still_believed() -> None:
    distrust = Distrust()
    for at in (0.0, 1.0):
        distrust.add("X", "fell_silent", at)
    distrust.add("Y", "average_wrong", 1.0)
    assert distrust.peers(1.0) == {"X", "Y"}
    assert distrust.liars(1.0) == {"Y"}
    distrust.ban("X", "banned_by_organiser", 500.0, 2.0)
    assert distrust.liars(2.0) == {"X", "Y"}
    assert distrust.liars(100.0) == {"X"}


def test_the_silence_of_the_backbone_does_not_count_but_its_broken_data_does() -> None:
    distrust = Distrust(spared=["backbone"])
    for at in range(5):
        distrust.add("backbone", "fell_silent", float(at))
    assert not distrust.peers(5.0)
    distrust.add("backbone", "values_out_of_range", 5.0)
    assert distrust.peers(5.0) == {"backbone"}


def test_many_keys_take_no_more_memory() -> None:
    distrust = Distrust()
    for number in range(10_000):
        distrust.add(str(number), "claim_malformed", 0.0)
    assert len(distrust.peers(0.0)) == 4096
    assert "9999" in distrust.peers(0.0)
