"""How finely a link is shared: what ten seconds carry depends on it."""

import pytest

from core.swarm.traffic.throttled_streams import chunk_size


@pytest.mark.parametrize(
    ("rates", "size"),
    [
        ((0.0, 0.0), 65_536),
        ((125_000.0, 0.0), 6_250),
        ((0.0, 125_000.0), 6_250),
        ((1_000_000.0, 125_000.0), 6_250),
        ((100_000_000.0, 50_000_000.0), 65_536),
        ((1_000.0,), 1_024),
    ],
)
def test_a_chunk_takes_a_twentieth_of_a_second_of_the_slower_side(rates: tuple[float, ...], size: int) -> None:
    assert chunk_size(*rates) == size
