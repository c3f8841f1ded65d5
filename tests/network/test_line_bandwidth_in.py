"""A peer learns from its rounds what its line carries in, and tells its groups that."""

from contextlib import ExitStack

import pytest

from benchmarks.round_peer import PRODUCT
from benchmarks.rounds import Line, Swarm, homes
from tests.waiting import wait_for

SLOW = 1_250_000
"""Bytes per second: 10 Mbit/s."""


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_line_that_is_slow_on_its_way_in_is_known_after_some_rounds() -> None:
    lines = [Line.parse(text) for text in ("100/100", "100/100", "100/10")]
    with ExitStack() as opened:
        swarm = Swarm(opened, PRODUCT, 1_000_000, lines, opened.enter_context(homes(lines)))

        def is_known() -> bool:
            swarm.round()
            return 0.7 * SLOW < swarm.bandwidths[-1] < 1.2 * SLOW

        wait_for(is_known, 120.0, "the line in to be known")
