"""A peer that missed an update catches up by its average. Two real peers on loopback."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import torch
from hivemind.compression import Float16Compression

from core.swarm.dht.peer import own_addresses
from core.swarm.state.update_chain import ChainedUpdate, UpdateChain
from tests.swarm.averaging.peers.member import Member
from tests.swarm.installed import installed

FIRST, SECOND, OTHER = (ChainedUpdate(epoch, 2, digit * 32) for epoch, digit in ((1, "a"), (2, "b"), (1, "c")))


@contextmanager
def two(folder: Path, **options: Any) -> Iterator[tuple[Member, Member]]:
    with installed(folder), ExitStack() as opened:
        giver = Member(folder, 1.0, [], opened, **options)
        yield giver, Member(folder, 2.0, own_addresses(giver.dht), opened, **options)


def test_a_peer_that_missed_an_update_gets_its_average_if_it_continues_its_own(short_folder: Path) -> None:
    with two(short_folder) as (giver, taker):
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
    with two(short_folder, compression=Float16Compression()) as (giver, taker):
        chain = tuple(ChainedUpdate(epoch, 2, f"{epoch:032x}") for epoch in range(1, 5))
        for epoch in (2, 3, 4):
            with giver.averager.get_tensors() as tensors:
                tensors[0].fill_(1e5 * (epoch - 2) + epoch)
            giver.averager.round_average()
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
