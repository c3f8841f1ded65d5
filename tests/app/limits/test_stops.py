"""The round values that sliders offer."""

import pytest

from app.limits.stops import stop_of, stops
from core.api.preferences.preferences import PREFERENCES
from core.api.preferences.value_types import Number

NUMBERS = {name: each.type for name, each in PREFERENCES.items() if isinstance(each.type, Number)}
UPLOAD = NUMBERS["upload_limit"]


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
def test_every_number_has_stops_within_its_range_and_finds_them_again(number: Number) -> None:
    offered = stops(number)
    assert 2 <= len(offered) <= 130
    assert len(set(offered)) == len(offered)
    assert all(number.allows(stop) for stop in offered)
    assert [stop_of(stop, offered, number) for stop in offered] == list(range(len(offered)))
    assert 0 <= stop_of(number.default, offered, number) <= len(offered) - 1


def test_unlimited_stands_at_the_generous_end_and_automatic_at_the_other() -> None:
    assert stops(UPLOAD)[-1] == 0
    assert stops(NUMBERS["threads"])[0] == 0


def test_a_measured_value_stands_between_the_stops() -> None:
    offered = stops(UPLOAD)
    assert offered.index(250_000) < stop_of(260_000, offered, UPLOAD) < offered.index(250_000) + 1
    assert stop_of(0.5, offered, UPLOAD) == 0
