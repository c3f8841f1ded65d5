"""The average of a part, as a hostile minority can move it."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.swarm.trust.centered_clip import CollectedParts, centered_clip, clip_of

SIZE = 4096
ATTACKS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "negated": lambda mean: -mean,
    "negated a thousand times": lambda mean: -1000 * mean,
    "as large as can be": lambda mean: torch.full_like(mean, 2.0**48),
    "a little": lambda mean: mean + 0.3,
    "nothing": torch.zeros_like,
}


def honest_parts(count: int, weights: np.ndarray, seed: int = 0, noise: float = 3.0) -> torch.Tensor:
    """Gradients of so many samples each: the same for all, and noise that becomes less with more samples."""
    generator = torch.Generator().manual_seed(seed)
    mean = torch.randn(SIZE, generator=generator)
    deviations = torch.randn(count, SIZE, generator=generator) * noise
    return mean + deviations / torch.from_numpy(weights).float().sqrt()[:, None]


def mean_of(parts: torch.Tensor, weights: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(weights / weights.sum()).float() @ parts


@pytest.mark.parametrize("count", [1, 2, 3, 4, 16])
def test_among_honest_members_it_is_the_weighted_mean(count: int) -> None:
    weights = np.linspace(16, 128, count)
    parts = honest_parts(count, weights)
    torch.testing.assert_close(centered_clip(list(parts), list(weights)), mean_of(parts, weights))


def test_one_with_most_of_the_samples_does_not_push_out_the_others() -> None:
    weights = np.array([900.0, 30.0, 40.0, 30.0])
    parts = honest_parts(4, weights)
    torch.testing.assert_close(centered_clip(list(parts), list(weights)), mean_of(parts, weights))


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize(("count", "hostile"), [(3, 1), (4, 1), (16, 7)])
def test_a_minority_moves_it_by_little_more_than_an_honest_member_deviates(
    count: int, hostile: int, attack: str
) -> None:
    weights = np.full(count, 64.0)
    parts = honest_parts(count, weights)
    deviation = 3.0 / 8 * SIZE**0.5
    honest = parts[hostile:].mean(0)
    parts[:hostile] = ATTACKS[attack](honest)
    centre = centered_clip(list(parts), list(weights))
    assert float((centre - honest).norm()) < 1.3 * deviation


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize(("count", "share"), [(3, 0.35), (3, 0.45), (4, 0.45), (5, 0.45), (8, 0.49), (16, 0.49)])
def test_one_with_almost_half_of_the_samples_moves_it_no_further(count: int, share: float, attack: str) -> None:
    weights = np.full(count, 64.0)
    weights[0] = 64.0 * (count - 1) * share / (1 - share)
    parts = honest_parts(count, weights)
    honest = parts[1:].mean(0)
    parts[0] = ATTACKS[attack](honest)
    centre = centered_clip(list(parts), list(weights))
    assert float((centre - honest).norm()) < 1.3 * 3.0 / 8 * SIZE**0.5


def test_of_two_members_the_larger_one_counts_with_three_times_the_norm_of_the_other() -> None:
    small, large = torch.full((SIZE,), 1.0), torch.full((SIZE,), -1000.0)
    torch.testing.assert_close(centered_clip([small, large], [8.0, 8.0]), torch.full((SIZE,), -1.0))
    torch.testing.assert_close(centered_clip([small, small * 2], [8.0, 8.0]), torch.full((SIZE,), 1.5))


def test_members_that_agree_leave_nothing_to_one_that_does_not() -> None:
    parts = [torch.ones(8), torch.ones(8), torch.ones(8), torch.full((8,), 5.0)]
    assert centered_clip(parts, [1.0] * 4).tolist() == [1.0] * 8


def test_members_without_samples_do_not_count_and_nobody_with_samples_is_not_finite() -> None:
    collected = CollectedParts(torch.zeros(2))
    collected.add_(torch.full((2,), 7.0), alpha=0.0)
    assert not collected.div_(0.0).isfinite().any()
    collected.add_(torch.tensor([1.0, 2.0]), alpha=3.0)
    assert collected.div_(3.0).tolist() == [1.0, 2.0]


VALUES = st.floats(-(2.0**48), 2.0**48, width=32)
WEIGHTS = st.floats(1e-3, 1e6)


@given(st.lists(st.tuples(st.lists(VALUES, min_size=5, max_size=5), WEIGHTS), min_size=1, max_size=9))
def test_whatever_members_send_it_is_finite_and_within_what_they_sent(members: list[tuple[list[float], float]]) -> None:
    parts = torch.tensor([values for values, _weight in members])
    centre = centered_clip(list(parts), [weight for _values, weight in members])
    assert centre.isfinite().all()
    spare = 1e-5 * parts.abs().max()
    if len(members) > 2:
        assert ((centre >= parts.min(0).values - spare) & (centre <= parts.max(0).values + spare)).all()


@given(st.integers(0, 1 << 30), st.integers(3, 12), st.floats(-1000, 1000))
def test_the_clipped_differences_add_up_to_zero(seed: int, count: int, factor: float) -> None:
    weights = np.random.default_rng(seed).uniform(4, 64, count)
    parts = honest_parts(count, weights, seed)
    parts[0] *= factor
    centre = centered_clip(list(parts), list(weights))
    distances = (parts - centre).norm(dim=1).double().numpy()
    squares = torch.cdist(parts, parts, compute_mode="donot_use_mm_for_euclid_dist").double().numpy() ** 2
    clip = clip_of(squares, weights)
    shares = torch.from_numpy(clip.weights / weights.sum() * clip.factors(distances)).float()
    assert float((shares @ (parts - centre)).norm()) < 1e-3 * clip.lengths.max()


def test_who_is_far_from_most_others_does_not_count() -> None:
    weights = np.full(4, 64.0)
    parts = honest_parts(4, weights)
    parts[0] *= -1000
    torch.testing.assert_close(centered_clip(list(parts), list(weights)), mean_of(parts[1:], weights[1:]))
