"""What a round has freed, other programs can have until the next one."""

import platform
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.swarm.averaging.gradient_averager import EpochGradientAverager
from core.swarm.dht.peer import own_addresses
from tests import fragmented
from tests.swarm.averaging.peers.member import Member, round_of
from tests.swarm.installed import installed
from tests.waiting import wait_for


class Fragmenting(EpochGradientAverager):
    """Frees a lot in each round, and something above it is still in use."""

    async def _run_allreduce_inplace_(self, *arguments: Any, **options: Any) -> None:
        with fragmented.in_use():
            await super()._run_allreduce_inplace_(*arguments, **options)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has malloc_trim")
def test_an_averager_gives_back_what_a_round_has_freed(short_folder: Path) -> None:
    with installed(short_folder), ExitStack() as opened:
        first = Member(short_folder, 1.0, [], opened, kind=Fragmenting)
        second = Member(short_folder, 2.0, own_addresses(first.dht), opened, kind=Fragmenting)
        processes = [psutil.Process(member.averager.pid) for member in (first, second)]
        before = [process.memory_info().rss for process in processes]
        round_of([first, second])

        def grown() -> int:
            return max(process.memory_info().rss - held for process, held in zip(processes, before, strict=True))

        wait_for(lambda: grown() < 0.5 * fragmented.SIZE, 5.0, "it is given back")
