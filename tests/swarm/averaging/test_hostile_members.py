"""Rounds with a real member that attacks them: the others go on, and it is left out of the next ones."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.swarm.averaging.averagers import EpochGradientAverager
from core.swarm.dht.peer import own_addresses
from core.swarm.dht.weight_limits import WeightLimits
from core.swarm.trust.distrust import Distrust, Drop
from tests.swarm.averaging.attackers import (
    HostileReducer,
    HostileSender,
    Leaving,
    SecondStream,
    Silent,
    running,
)
from tests.swarm.averaging.member import TIMEOUT, Member
from tests.swarm.installed import installed
from tests.waiting import wait_for

pytestmark = pytest.mark.timeout(120)

HONEST, HOSTILE = (1.0, 2.0, 6.0), 4.0
MEAN = 3.0
"""Of the honest members."""
PATIENCE = 15.0
OPTIONS: dict[str, Any] = {"sizes": (20_001, 7), "part_size_bytes": 1 << 14, "part_timeout": 3.0}
"""Some parts for each reducer."""


class Line:
    """Three honest members, and one that is not. With a bandwidth of 0 it reduces nothing."""

    def __init__(self, folder: Path, opened: ExitStack, kind: type[EpochGradientAverager], **options: Any) -> None:
        self.drops: list[Drop] = []
        self.members: list[Member] = []
        for value in HONEST:
            self._add(folder, opened, value, distrust=Distrust(self.drops.append))
        self.hostile = self._add(folder, opened, HOSTILE, kind=kind, **options)
        self.honest = self.members[:-1]
        self.attacker = str(self.hostile.dht.peer_id)

    def _add(self, folder: Path, opened: ExitStack, value: float, **options: Any) -> Member:
        contact = own_addresses(self.members[0].dht) if self.members else []

        def expected() -> Mapping[bytes, float]:
            return {other.dht.peer_id.to_bytes(): 0.0 for other in self.members if other.value != value}

        limits = WeightLimits(others=(2.0, 0.0))
        options = {"weight_limits": lambda: limits, "expected": expected, **OPTIONS, **options}
        made = Member(folder, value, contact, opened, matchmaking_time=PATIENCE, **options)
        self.members.append(made)
        return made

    def round(self) -> list[int | Exception]:
        """The sizes of the honest members' groups, or why there is none. The attacker always comes."""
        controls = [member.begin(timeout=PATIENCE + 5.0) for member in (self.hostile, *self.honest)]
        for control in controls:
            control.allow_allreduce()
        ends: list[int | Exception] = []
        for control in controls[1:]:
            try:
                ends.append(len(control.result(TIMEOUT)))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is compared
                ends.append(error)
        if not controls[0].done():
            controls[0].cancel()
        return ends

    @property
    def gradients(self) -> list[float]:
        return [member.gradient for member in self.honest]

    def offences(self) -> list[tuple[str, str]]:
        """Who was dropped and why, as each honest member saw it."""
        for member in self.honest:
            member.averager.read_offences()
        return [(drop.peer, drop.offence) for drop in self.drops]


@pytest.fixture
def line(short_folder: Path) -> Iterator[Callable[..., Line]]:
    with installed(short_folder), ExitStack() as opened:
        yield partial(Line, short_folder, opened)


BROKEN = {
    "not finite": "values_out_of_range",
    "infinite in one place": "values_out_of_range",
    "too large to add up": "values_out_of_range",
    "too short": "part_malformed",
    "of another form": "part_malformed",
    "complex": "part_malformed",
    "undecodable": "part_malformed",
    "of an unknown type": "part_malformed",
    "with a history": "part_malformed",
    "weight not finite": "weight_invalid",
    "weight negative": "weight_invalid",
    "weight infinite": "weight_invalid",
    "weight too small to add up": "weight_invalid",
}


@pytest.mark.parametrize("attack", BROKEN)
def test_who_sends_broken_parts_is_dropped_and_the_round_goes_on(line: Callable[..., Line], attack: str) -> None:
    made = line(running(HostileSender, attack), bandwidth=0.0)
    assert made.round() == [4, 4, 4]
    assert made.gradients == [MEAN] * 3
    assert made.offences() == [(made.attacker, BROKEN[attack])] * 3
    began = time.monotonic()
    assert made.round() == [3, 3, 3]
    assert made.gradients == [MEAN] * 3
    assert time.monotonic() - began < PATIENCE


def test_more_parts_than_there_are_count_for_nothing(line: Callable[..., Line]) -> None:
    made = line(running(HostileSender, "too many"), bandwidth=0.0)
    assert made.round() == [4, 4, 4]
    assert {peer for peer, _ in made.offences()} == {made.attacker}


def test_a_second_stream_of_parts_is_refused(line: Callable[..., Line]) -> None:
    made = line(running(SecondStream), bandwidth=0.0)
    assert made.round() == [4, 4, 4]
    assert (made.attacker, "parts_too_many") in made.offences()
    assert made.round() == [3, 3, 3]
    assert made.gradients == [MEAN] * 3


def test_a_weight_counts_as_far_as_the_samples_that_are_known(line: Callable[..., Line]) -> None:
    made = line(running(HostileSender, "heavy and negated"), bandwidth=0.0)
    assert made.round() == [4, 4, 4]
    assert made.gradients == [pytest.approx((sum(HONEST) - 2 * HOSTILE) / 5)] * 3


@pytest.mark.parametrize("attack", ["not finite", "too short", "undecodable"])
def test_a_reducer_that_answers_with_broken_averages_fails_one_round(line: Callable[..., Line], attack: str) -> None:
    made = line(running(HostileReducer, attack))
    assert all(isinstance(end, Exception) for end in made.round())
    assert made.gradients == list(HONEST)
    assert made.offences() == [(made.attacker, BROKEN[attack])] * 3
    assert made.round() == [3, 3, 3]
    assert made.gradients == [MEAN] * 3


@pytest.mark.parametrize("kind", [Leaving, Silent])
def test_who_falls_silent_in_two_rounds_is_left_out_of_the_third(
    line: Callable[..., Line], kind: type[Leaving]
) -> None:
    made = line(
        running(kind),
    )
    for number in range(2):
        assert all(isinstance(end, Exception) for end in made.round())
        assert made.gradients == list(HONEST)
        if not number:
            assert made.offences() == []
    wait_for(lambda: len(made.offences()) == 3, 10.0)
    assert set(made.offences()) == {(made.attacker, "fell_silent")}
    assert made.round() == [3, 3, 3]
    assert made.gradients == [MEAN] * 3
