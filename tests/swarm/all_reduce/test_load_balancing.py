import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linprog  # type: ignore[import-untyped]

from core.swarm.all_reduce.load_balancing import by_few, load_balance, shares, spread

lines = st.lists(st.one_of(st.just(0.0), st.floats(1.0, 1e9)), min_size=3, max_size=16).filter(any)


def time_of(shared: list[float], bandwidths: list[float]) -> float:
    """Of the slowest peer that can be reached, as DeDLOC has it."""
    busy = [(1 + (len(shared) - 2) * share) / line for share, line in zip(shared, bandwidths, strict=True) if line]
    return max(busy)


def optimum(bandwidths: list[float]) -> float:
    """The same linear program, solved by HiGHS; in units of the slowest line's time, for lines of 1 and of 1e9 in one
    program would lie beyond its tolerances."""
    group, slowest = len(bandwidths), min(line for line in bandwidths if line)
    reached = np.array(bandwidths) > 0
    pace = slowest / np.array(bandwidths)[reached]
    rows = np.hstack([np.diag(np.full(group, group - 2.0))[reached] * pace[:, None], -np.ones((reached.sum(), 1))])
    solution = linprog(
        np.append(np.zeros(group), 1.0),
        A_ub=rows,
        b_ub=-pace,
        A_eq=np.append(np.ones(group), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, 1 if line else 0) for line in bandwidths] + [(0, None)],
        method="highs",
    )
    return float(solution.x[-1]) / slowest


@given(lines)
@example([0.0, 1.0, 1e9])
@example([1.0, 1e9, 1e9, 1e9])
def test_the_slowest_peer_is_ready_as_early_as_the_linear_program_says(bandwidths: list[float]) -> None:
    shared = shares(bandwidths)
    assert sum(shared) == pytest.approx(1)
    assert all(share >= 0 for share in shared)
    assert all(share == 0 for share, line in zip(shared, bandwidths, strict=True) if not line)
    assert time_of(shared, bandwidths) == pytest.approx(optimum(bandwidths), rel=1e-6)


def test_a_slow_line_gets_a_small_share_or_none() -> None:
    assert shares([12.5e6, 12.5e6, 12.5e6, 125_000])[3] == 0
    fast, slow = shares([10.0, 10.0, 10.0, 8.0])[::3]
    assert 0 < slow < fast / 2


def test_two_peers_share_evenly_and_whoever_cannot_be_reached_has_nothing() -> None:
    assert shares([12.5e6, 125_000]) == [0.5, 0.5]
    assert shares([0.0, 125_000]) == [0.0, 1.0]


def test_a_group_in_which_nobody_can_reduce_is_an_error() -> None:
    with pytest.raises(ValueError, match="nobody"):
        load_balance(10, [0.0, 0.0])


@example(1, [None, None, 2.2e-309])
@given(st.integers(1, 10**8), st.lists(st.one_of(st.none(), st.floats(0, 1e9)), min_size=2, max_size=16))
def test_every_value_is_reduced_by_exactly_one_peer(size: int, bandwidths: list[float | None]) -> None:
    if not any(line is None or line > 0 for line in bandwidths):
        return
    counts = load_balance(size, bandwidths)
    assert sum(counts) == size
    assert min(counts) >= 0


def test_a_share_too_small_to_be_worth_it_goes_to_the_others() -> None:
    assert load_balance(1000, [100.0, 100.0, 60.0], smallest=300)[2] == 0


@given(lines)
def test_as_few_reduce_as_make_the_round_little_longer(bandwidths: list[float]) -> None:
    best, few = shares(bandwidths), by_few(bandwidths)
    assert sum(few) == pytest.approx(1.0)
    assert sum(map(bool, few)) <= sum(map(bool, best))
    assert time_of(few, bandwidths) <= 1.0301 * time_of(best, bandwidths)


@pytest.mark.parametrize("fast", [98.0, 100.0, 150.0, 200.0])
def test_a_line_that_all_wait_for_carries_nothing_more_while_others_have_room(fast: float) -> None:
    assert load_balance(1_000_000, [fast, 100.0, 50.5, 50.0])[2:] == (0, 0)


@given(lines)
def test_no_claim_gives_everything_where_others_can_reduce(bandwidths: list[float]) -> None:
    wanted = shares(bandwidths)
    spread_out = spread(wanted, bandwidths)
    assert sum(spread_out) == pytest.approx(1.0)
    assert all(share >= 0 for share in spread_out)
    assert time_of(spread_out, bandwidths) <= 1.1251 * time_of(wanted, bandwidths)


@pytest.mark.parametrize(
    ("callers", "line", "expected"),
    [(3, 0, 1.0), (3, 10, 1.1), (3, 40, 1.6), (3, 100, 2.5), (14, 10, 1.6), (14, 40, 5.1), (14, 100, 8.0)],
)
def test_who_can_be_called_carries_a_part_of_what_others_cannot_as_the_docs_say(
    callers: int, line: float, expected: float
) -> None:
    bandwidths = [100.0, line, *[0.0] * callers]
    share = load_balance(1_000_000, bandwidths)[1] / 1_000_000
    assert 1 + (len(bandwidths) - 2) * share == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("others", [2, 3, 9])
def test_the_others_keep_a_part_beside_a_claim_of_any_size(others: int) -> None:
    counts = load_balance(1_000_000, [1.25e9, *[12.5e6] * others])
    assert counts[0] < 900_000
    assert all(count > 0 for count in counts)


def test_a_faster_line_counts_as_what_it_is() -> None:
    slow, fast, fastest = (load_balance(1_000_000, [line, 12.5e6, 12.5e6, 12.5e6])[0] for line in (12.5e6, 25e6, 125e6))
    assert slow < fast < fastest
