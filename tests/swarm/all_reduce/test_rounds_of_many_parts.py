"""Vectors of many parts, of which reducers with fast and slow lines have different shares."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from hivemind.compression import CompressionBase, Float16Compression, NoCompression

from core.swarm.dht.peer import own_addresses
from tests.swarm.averaging.peers.member import TIMEOUT, Member
from tests.swarm.installed import installed


@pytest.mark.parametrize("compression", [NoCompression(), Float16Compression()])
def test_all_have_the_average_of_every_value(short_folder: Path, compression: CompressionBase) -> None:
    # The last share ends within the second tensor, and the third one is smaller than a part.
    options = {"sizes": (70_001, 50_000, 7, 30_000), "part_size_bytes": 1 << 14, "compression": compression}
    with installed(short_folder), ExitStack() as opened:
        first = Member(short_folder, 1.0, [], opened, bandwidth=lambda: 4e6, **options)
        contact = own_addresses(first.dht)
        members = [
            first,
            Member(short_folder, 2.0, contact, opened, bandwidth=lambda: 3e6, **options),
            Member(short_folder, 6.0, contact, opened, bandwidth=lambda: 1e5, **options),
        ]
        for _round in range(3):
            controls = [member.begin() for member in members]
            for control in controls:
                control.allow_allreduce()
            assert {len(control.result(TIMEOUT)) for control in controls} == {3}
            assert [member.gradient for member in members] == [3.0, 3.0, 3.0]
