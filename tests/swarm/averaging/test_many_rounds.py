"""A hundred rounds and more in a row, under a ceiling."""

import statistics
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from core.api.session_settings import Limits
from core.swarm.dht.peer import own_addresses
from tests.swarm.averaging.peers.member import TIMEOUT, Member
from tests.swarm.installed import installed
from tests.waiting import wait_for

ROUNDS, WARM = 128, 32
CEILING = 2_000_000
"""Bytes per second."""
VALUES = 20_000
LEFT = 16
"""Descriptors that two averagers open in their first round and keep, at most."""


@pytest.fixture
def members(short_folder: Path) -> Iterator[list[Member]]:
    made: list[Member] = []
    with installed(short_folder) as link, ExitStack() as opened:
        link.apply(Limits(upload_limit=CEILING))

        def make(value: float, contact: list[str]) -> None:
            def expected() -> dict[bytes, float]:
                return {other.dht.peer_id.to_bytes(): 0.0 for other in made if other.value != value}

            made.append(
                Member(short_folder, value, contact, opened, matchmaking_time=15.0, expected=expected, sizes=(VALUES,))
            )

        make(1.0, [])
        make(2.0, own_addresses(made[0].dht))
        yield made


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_many_rounds_leave_nothing_behind(members: list[Member]) -> None:
    processes = [psutil.Process(member.averager.pid) for member in members]

    def descriptors() -> int:
        return sum(process.num_fds() for process in processes)

    memory, before_all = list[float](), descriptors()
    for number in range(ROUNDS):
        controls = [member.begin() for member in members]
        if number % 4 == 3:  # now and then one gives its search up and begins again
            controls[0].cancel()
            controls[0] = members[0].begin()
        for control in controls:
            control.allow_allreduce()
        for control in controls:
            assert len(control.result(TIMEOUT)) == 2
        memory.append(statistics.fmean(process.memory_info().rss for process in processes))
    early, late = (statistics.fmean(part) / 2**20 for part in (memory[WARM : 2 * WARM], memory[-WARM:]))
    print(f"in the second and the last {WARM} rounds {early:.1f}, {late:.1f} MiB; {before_all} descriptors at first")
    assert late < 1.02 * early
    # Streams stay open for two seconds after their last part.
    wait_for(lambda: descriptors() <= before_all + LEFT, 10.0)
