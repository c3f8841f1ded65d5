"""Rounds with a real member that attacks them: the others go on, and it is left out of the next ones."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from core.swarm.averaging import audited
from core.swarm.dht.progress.weight_limits import WeightLimits
from core.swarm.trust.audit import Account
from tests.swarm.averaging.attackers import (
    Halting,
    HaltingLiar,
    HostileReducer,
    HostileSender,
    Leaving,
    PartialSender,
    SecondStream,
    Silent,
    TwoFacedReducer,
    excusing,
    running,
)
from tests.swarm.averaging.line import HONEST, HOSTILE, MEAN, PATIENCE, Line
from tests.swarm.installed import installed
from tests.waiting import wait_for

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def line(short_folder: Path) -> Iterator[Callable[..., Line]]:
    with installed(short_folder), ExitStack() as opened:
        yield partial(Line, short_folder, opened)


AUDIT = 12.0
"""Seconds in which the audits of a round end, also if a member answers them late."""
CENTRE = 1.5
"""Of the honest members by CenteredClip: two of them are so near to each other that the third one does not count."""
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
    made = line(running(HostileSender, attack), bandwidth=lambda: 0.0)
    assert made.round() == [4, 4, 4]
    assert made.gradients == [MEAN] * 3
    assert made.offences() == [(made.attacker, BROKEN[attack])] * 3
    began = time.monotonic()
    assert made.round() == [3, 3, 3]
    assert made.gradients == [MEAN] * 3
    assert time.monotonic() - began < PATIENCE


def test_more_parts_than_there_are_count_for_nothing(line: Callable[..., Line]) -> None:
    made = line(running(HostileSender, "too many"), bandwidth=lambda: 0.0)
    assert made.round() == [4, 4, 4]
    assert {peer for peer, _ in made.offences()} == {made.attacker}


def test_a_second_stream_of_parts_is_refused(line: Callable[..., Line]) -> None:
    made = line(running(SecondStream), bandwidth=lambda: 0.0)
    assert made.round() == [4, 4, 4]
    assert (made.attacker, "parts_too_many") in made.offences()
    assert made.round() == [3, 3, 3]
    assert made.gradients == [MEAN] * 3


def test_a_weight_counts_as_far_as_the_samples_that_are_known(line: Callable[..., Line]) -> None:
    made = line(running(HostileSender, "heavy and negated"), bandwidth=lambda: 0.0)
    assert made.round() == [4, 4, 4]
    assert made.gradients == [pytest.approx((sum(HONEST) - 2 * HOSTILE) / 5)] * 3


def test_a_claimed_bandwidth_brings_no_member_the_whole_vector(line: Callable[..., Line]) -> None:
    made = line(running(HostileReducer, "zero"), bandwidth=lambda: 1e30)
    assert made.round() == [4, 4, 4]
    for member in made.honest:
        with member.averager.get_tensors() as tensors:
            (averages, _small) = (tensor.clone() for tensor in tensors)
        assert 0.5 < float((averages == 0).float().mean()) < 0.85


def test_a_member_far_from_the_others_does_not_move_the_centre(line: Callable[..., Line]) -> None:
    made = line(running(HostileSender, "negated a thousand times"), bandwidth=lambda: 0.0, is_robust=True)
    assert made.round() == [4, 4, 4]
    assert made.gradients == [pytest.approx(MEAN)] * 3
    assert made.offences() == []


@pytest.mark.parametrize("attack", ["not finite", "too short", "undecodable"])
def test_a_reducer_that_answers_with_broken_averages_fails_one_round(line: Callable[..., Line], attack: str) -> None:
    made = line(running(HostileReducer, attack))
    assert all(isinstance(end, Exception) for end in made.round())
    assert made.gradients == list(HONEST)
    assert made.offences() == [(made.attacker, BROKEN[attack])] * 3
    assert made.round() == [3, 3, 3]
    assert made.gradients == [MEAN] * 3


@pytest.mark.parametrize("is_robust", [False, True])
def test_a_reducer_for_which_nobody_counts_ends_the_round_and_is_not_blamed(
    line: Callable[..., Line], is_robust: bool
) -> None:
    """The attacker alone has samples, and what it sends to one of the reducers is broken."""
    made = line(running(PartialSender, "not finite"), bandwidth=lambda: 0.0, is_robust=is_robust)
    for member in made.honest:
        member.weight = 0.0
    assert all(isinstance(end, Exception) for end in made.round())
    assert made.gradients == list(HONEST)
    assert set(made.offences()) == {(made.attacker, "values_out_of_range")}


@pytest.fixture
def all_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audited, "AUDITORS", 4)


@pytest.mark.usefixtures("all_audit")
@pytest.mark.parametrize("attack", ["negated", "zero"])
def test_a_reducer_that_gives_all_a_wrong_average_is_left_out_of_the_next_round(
    line: Callable[..., Line], attack: str
) -> None:
    made = line(running(HostileReducer, attack), is_robust=True)
    assert made.round() == [4, 4, 4]
    wait_for(lambda: len(made.offences()) == len(HONEST), 10.0)
    assert set(made.offences()) == {(made.attacker, "average_wrong")}
    assert made.round() == [3, 3, 3]
    assert made.gradients == [pytest.approx(CENTRE)] * 3


EXCUSES: dict[str, Callable[[Account], Account]] = {
    "it says what it gave": lambda told: replace(told, given=-told.given),
    "it says that it took what makes this right": lambda told: replace(told, given=-told.given, taken=-told.taken),
    "it says that it counted nobody else": lambda told: replace(told, counted=0 * told.counted),
}


@pytest.mark.usefixtures("all_audit")
@pytest.mark.parametrize("excuse", EXCUSES)
def test_no_lie_about_the_round_excuses_a_wrong_average(line: Callable[..., Line], excuse: str) -> None:
    made = line(excusing("negated", EXCUSES[excuse]), is_robust=True)
    assert made.round() == [4, 4, 4]
    wait_for(lambda: len(made.offences()) == len(HONEST), 10.0)
    assert set(made.offences()) == {(made.attacker, "average_wrong")}


def _says_nothing(_told: Account) -> Account:
    raise OSError


@pytest.mark.usefixtures("all_audit")
def test_a_reducer_that_never_says_what_it_took_is_left_out(line: Callable[..., Line]) -> None:
    made = line(excusing("negated", _says_nothing), is_robust=True)
    # Of each round two seconds later, as in a run.
    wait_for(lambda: made.round() and made.offences(), 60.0, every=2.5)
    assert set(made.offences()) == {(made.attacker, "average_wrong")}


@pytest.mark.usefixtures("all_audit")
@pytest.mark.parametrize("attack", ["negated", "a quarter larger"])
def test_a_reducer_that_gives_one_member_another_average_is_left_out_by_that_one(
    line: Callable[..., Line], attack: str
) -> None:
    made = line(running(TwoFacedReducer, attack), is_robust=True)
    assert made.round() == [4, 4, 4]
    wait_for(made.offences, 10.0)
    assert made.offences() == [(made.attacker, "average_wrong")]


@pytest.mark.usefixtures("all_audit")
def test_honest_reducers_are_not_blamed_for_what_a_member_sends(line: Callable[..., Line]) -> None:
    made = line(running(HostileSender, "negated a thousand times"), is_robust=True)
    for _round in range(3):
        assert made.round() == [4, 4, 4]
    assert made.offences() == []


@pytest.mark.usefixtures("all_audit")
def test_nobody_is_blamed_for_the_average_of_a_round_in_which_the_member_with_most_samples_halted(
    line: Callable[..., Line],
) -> None:
    """As a computer does that is suspended, or too busy: some of its parts count, and others do not."""
    made = line(running(Halting), bandwidth=lambda: 0.0, is_robust=True)
    made.limits = WeightLimits(newcomers={}, crowd=(40.0, 0.0))
    made.hostile.weight = 10.0
    assert made.round() == [4, 4, 4]
    time.sleep(AUDIT)
    assert [offence for _, offence in made.offences() if offence != "fell_silent"] == []


@pytest.mark.usefixtures("all_audit")
def test_a_liar_does_not_escape_by_halting(line: Callable[..., Line]) -> None:
    made = line(running(HaltingLiar, "negated"), is_robust=True)
    wait_for(lambda: made.round() and made.offences(), 60.0, every=2.5)
    assert {peer for peer, _offence in made.offences()} == {made.attacker}


@pytest.mark.parametrize("kind", [Leaving, Silent])
def test_who_falls_silent_in_round_after_round_is_left_out_and_once_is_forgiven(
    line: Callable[..., Line], kind: type[Leaving]
) -> None:
    made = line(running(kind))
    for _ in range(2):
        assert made.offences() == []
        assert all(isinstance(end, Exception) for end in made.round())
        assert made.gradients == list(HONEST)
    # Members that began at different moments may not know which one of two left first: they need one more.
    for _ in range(2):
        if len(made.offences()) < len(HONEST):
            made.round()
    wait_for(lambda: len(made.offences()) == len(HONEST), 10.0)
    assert set(made.offences()) == {(made.attacker, "fell_silent")}
    assert made.round() == [3, 3, 3]
    assert len(set(made.gradients)) == 1
