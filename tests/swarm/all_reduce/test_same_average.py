"""All members have the same bits of an average, however little of what they brought is left in it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
import torch
from hivemind.compression import CompressionBase, Float16Compression, NoCompression, Uniform8BitQuantization

from core.swarm.dht.peer import own_addresses
from tests.swarm.averaging.peers.member import Member, round_of
from tests.swarm.installed import installed

SIZES = (20_001, 7)
SMALL = 1e-9
"""Times an honest gradient. Of two members, the other one's is shortened to three times that."""


@pytest.fixture
def member(short_folder: Path) -> Iterator[Callable[..., Member]]:
    with installed(short_folder), ExitStack() as opened:
        yield partial(_member, short_folder, opened, [])


def _member(folder: Path, opened: ExitStack, made: list[Member], codec: CompressionBase, scale: float) -> Member:
    number = len(made)

    def expected() -> dict[bytes, float]:
        return {other.dht.peer_id.to_bytes(): 0.0 for other in made if other.value != number}

    contact = own_addresses(made[0].dht) if made else []
    options = {"sizes": SIZES, "part_size_bytes": 1 << 14, "compression": codec, "is_robust": True}
    member = Member(folder, float(number), contact, opened, matchmaking_time=15.0, expected=expected, **options)
    made.append(member)
    drawn = torch.Generator().manual_seed(number)
    with torch.no_grad():
        for accumulated in member.averager._grad_accumulators():
            accumulated.copy_(scale * torch.randn(accumulated.shape, generator=drawn))
    return member


def _average(member: Member) -> torch.Tensor:
    with member.averager.get_tensors() as tensors:
        return torch.cat([tensor.flatten().clone() for tensor in tensors])


@pytest.mark.parametrize("scales", [(1.0, 1.0, 1.0), (1.0, 0.0), (1.0, SMALL)])
@pytest.mark.parametrize("codec", [NoCompression(), Float16Compression(), Uniform8BitQuantization()])
def test_members_have_the_same_bits_of_an_average(
    member: Callable[..., Member], codec: CompressionBase, scales: tuple[float, ...]
) -> None:
    members = [member(codec, scale) for scale in scales]
    assert round_of(members)[0] == len(scales)
    first, *others = map(_average, members)
    assert all(torch.equal(first, other) for other in others)
    if min(scales) < 1.0:
        assert float(first.norm()) <= 3 * SMALL * SIZES[0] ** 0.5
