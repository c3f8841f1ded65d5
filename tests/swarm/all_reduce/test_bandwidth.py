import pytest

from core.api.project.manifest import Averaging
from core.swarm.all_reduce.bandwidth import (
    min_bandwidth,
    part_size,
    part_size_in_group,
    part_timeout,
    state_timeout,
)

MBIT = 125_000


def test_a_million_parameters_pass_a_line_of_one_megabit() -> None:
    assert 0.5 * MBIT < min_bandwidth(1_000_000, Averaging(averaging_timeout=60)) < MBIT


def test_eighteen_million_parameters_need_more_than_the_bare_bytes() -> None:
    bare = 36_000_000 / 60
    assert 2 * bare < min_bandwidth(18_000_000, Averaging(averaging_timeout=60)) < 3 * bare


@pytest.mark.parametrize(("compression", "times"), [("none", 4), ("float16", 2), ("uniform8bit", 1)])
def test_the_need_grows_with_the_bytes_of_a_value_and_shrinks_with_the_time(compression: str, times: int) -> None:
    least = min_bandwidth(10**6, Averaging(compression="uniform8bit", averaging_timeout=100))
    assert min_bandwidth(10**6, Averaging(compression=compression, averaging_timeout=100)) == pytest.approx(  # type: ignore[arg-type]
        times * least, rel=1e-4
    )
    assert min_bandwidth(10**6, Averaging(compression="uniform8bit", averaging_timeout=50)) == pytest.approx(
        2 * least, 1
    )


@pytest.mark.parametrize(("parameters", "size"), [(10, 1 << 14), (1_000_000, 1 << 16), (10**9, 1 << 17)])
def test_parts_are_about_a_second_of_the_slowest_line(parameters: int, size: int) -> None:
    assert part_size(parameters, Averaging(averaging_timeout=60)) == size


@pytest.mark.parametrize(
    ("members", "slowest", "size"),
    [(4, 10 * MBIT, 1 << 17), (8, 10 * MBIT, 1 << 17), (16, 5 * MBIT, 1 << 15), (16, 1, 1 << 14), (2, 1, 1 << 17)],
)
def test_parts_to_all_members_keep_the_slowest_line_busy_for_no_more_than_a_second(
    members: int, slowest: float, size: int
) -> None:
    assert part_size_in_group(1 << 17, [slowest, *[None, 0.0], *[100 * MBIT] * (members - 3)][:members]) == size
    assert part_size_in_group(size, [None] * members) == size


@pytest.mark.parametrize(
    ("members", "slowest", "size"),
    [(4, 50, 1 << 16), (4, 100, 1 << 17), (4, 200, 1 << 18), (16, 200, 1 << 18), (2, 1000, 1 << 18)],
)
def test_parts_are_larger_between_fast_lines(members: int, slowest: float, size: int) -> None:
    assert part_size_in_group(1 << 14, [slowest * MBIT] * members) == size


def test_a_part_has_half_of_the_round_to_arrive_but_never_less_than_hivemind_gives() -> None:
    assert part_timeout(Averaging(averaging_timeout=120, matchmaking_time=15)) == 60
    assert part_timeout(Averaging(averaging_timeout=10, matchmaking_time=2)) == 15


def test_a_state_may_take_twice_as_long_as_the_ceiling_makes_it() -> None:
    assert state_timeout(12_000_000, 0) == 120
    assert state_timeout(12_000_000, MBIT) == 120 + 192
