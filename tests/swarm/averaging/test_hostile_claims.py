"""Real members that lie about themselves when a group forms."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hivemind.utils import MSGPackSerializer

from core.swarm.averaging.gradient_averager import EpochGradientAverager
from core.swarm.dht.progress.weight_limits import WeightLimits
from tests.swarm.averaging.attackers import Claim, claiming
from tests.swarm.averaging.line import MEAN, PATIENCE, Line
from tests.swarm.installed import installed

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def line(short_folder: Path) -> Iterator[Callable[..., Line]]:
    with installed(short_folder), ExitStack() as opened:
        yield partial(Line, short_folder, opened)


def adding(value: Any) -> Callable[[Claim], object]:
    """What the averager itself adds is this."""
    return lambda claim: [claim[0], claim[1], MSGPackSerializer.dumps(value)]


CLAIMS: dict[str, Callable[[Claim], object]] = {
    "not MessagePack": lambda _claim: b"\xc1" * 20,
    "too long": lambda claim: [*claim[:2], b"x" * 100_000],
    "a bandwidth that is no number": lambda claim: ["fast", *claim[1:]],
    "a bandwidth that is not finite": lambda claim: [float("inf"), *claim[1:]],
    "an unknown mode": lambda claim: [claim[0], 9, claim[2]],
    "too few fields": lambda claim: claim[:2],
    "of another epoch": adding([7, b"12345678", True, b"x" * 16, 1e6, True]),
    "a line that is no number": adding([0, b"12345678", True, b"x" * 16, float("nan"), True]),
    "nothing of its own": adding(None),
}


@pytest.mark.parametrize("attack", CLAIMS)
def test_a_malformed_claim_costs_the_others_no_round(line: Callable[..., Line], attack: str) -> None:
    made = line(claiming(CLAIMS[attack]))
    began = time.monotonic()
    ends = made.round()
    assert [end for end in ends if isinstance(end, Exception)] == []
    assert made.gradients == [MEAN] * 3
    assert {peer for peer, _ in made.offences()} <= {made.attacker}
    assert time.monotonic() - began < 2 * PATIENCE


def test_newcomers_of_one_address_take_no_more_places_than_they_may(
    line: Callable[..., Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Before the averagers are forked.
    monkeypatch.setattr("core.swarm.trust.admission.PER_ADDRESS", 0)
    # It cannot lead a group of its own.
    made = line(EpochGradientAverager, listen=None)
    proven = {member.dht.peer_id.to_bytes(): (1.0, 0.0) for member in made.honest}
    made.limits = WeightLimits(supported=proven, crowd=(1.0, 0.0))
    assert [end for end in made.round() if isinstance(end, Exception)] == []
    assert made.gradients == [MEAN] * 3, "the newcomer, at the same address, had no place"
    assert made.offences() == []
