"""The learning curve's arithmetic."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.text.formats import region
from app.text.formats.region import Region
from app.widgets.charts import axis
from core.api.project.projects import CurvePoint


@pytest.mark.parametrize(
    ("lowest", "highest", "most", "expected"),
    [
        (0, 10, 6, [0, 2, 4, 6, 8, 10]),
        (2.1, 6.9, 4, [4, 6]),
        (2.3, 4.8, 2, [3, 4]),
        (0.213, 0.247, 5, [0.22, 0.23, 0.24]),
        (3, 3, 5, [3]),
    ],
)
def test_ticks_are_round(lowest: float, highest: float, most: int, expected: list[float]) -> None:
    assert axis.ticks(lowest, highest, most).values == pytest.approx(expected)


@example(1.0, 799_999_999.0, 2)
@example(-4e8, 8e8, 2)
@given(
    st.floats(-1e9, 1e9, allow_nan=False), st.floats(1e-6, 1e9, allow_nan=False), st.integers(min_value=2, max_value=12)
)
def test_ticks_stay_within_the_range_and_the_number(lowest: float, width: float, most: int) -> None:
    found = axis.ticks(lowest, lowest + width, most).values
    slack = 1e-6 * max(abs(lowest), width, 1.0)
    # Where a step of 5 leaves one tick, the range is below 10, in which the next finer one, 2, makes up to five.
    assert 2 <= len(found) <= max(most + 1, 5)
    assert all(lowest - slack <= tick <= lowest + width + slack for tick in found)


def test_whole_ticks_never_name_a_fraction_of_an_epoch() -> None:
    assert axis.whole_ticks(0, 3, 10) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("lowest", "highest", "most", "texts"),
    [
        (7.31, 7.64, 2, ["7.4", "7.6"]),
        (7.31, 9.02, 2, ["8", "9"]),
        (7.3, 8.02, 2, ["7.5", "8.0"]),
        (7.29, 7.66, 4, ["7.4", "7.6"]),
        (0.0, 2.1, 5, ["0", "1", "2"]),
    ],
)
def test_a_tick_has_the_decimals_that_its_step_needs(
    lowest: float, highest: float, most: int, texts: list[str]
) -> None:
    found = axis.ticks(lowest, highest, most)
    assert [found.text(tick) for tick in found.values] == texts


def test_ticks_have_the_decimal_mark_of_the_region() -> None:
    region.use(Region(decimal_mark=","))
    found = axis.ticks(7.31, 7.64, 2)
    assert [found.text(tick) for tick in found.values] == ["7,4", "7,6"]


def test_thinning_keeps_the_last_epoch_and_every_own_sample() -> None:
    points = [CurvePoint(epoch, loss=float(epoch), own_samples=1) for epoch in range(1000)]
    thin = axis.thinned(points, 100)
    assert len(thin) <= 100
    assert thin[-1].epoch == 999
    assert sum(point.own_samples for point in thin) == 1000


def test_losses_that_are_no_numbers_do_not_set_the_scale() -> None:
    points = [CurvePoint(1, loss=2.0), CurvePoint(2, loss=math.nan), CurvePoint(3, evaluation_loss=3.0), CurvePoint(4)]
    lowest, highest = axis.value_range(points) or (0, 0)
    assert 1.8 < lowest < 2.0
    assert 3.0 < highest < 3.2
    assert axis.value_range([CurvePoint(1)]) is None
