"""The round values that sliders offer."""

import pytest

from app.limits.stops import stop_instead, stop_of, stops
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
    assert [stop_of(stop, offered) for stop in offered] == list(range(len(offered)))
    assert 0 <= stop_of(number.default, offered) <= len(offered) - 1


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
def test_every_slider_runs_from_little_to_much_and_has_no_place_for_what_is_no_amount(number: Number) -> None:
    offered = stops(number)
    assert list(offered) == sorted(offered)
    assert not (number.zero and 0 in offered)


def test_who_wants_a_limit_begins_at_the_generous_end_and_who_wants_to_wait_with_the_shortest_time() -> None:
    first = {name: stop_instead(NUMBERS[name], stops(NUMBERS[name])) for name in ("upload_limit", "idle_gpu")}
    assert first == {"upload_limit": len(stops(UPLOAD)) - 1, "idle_gpu": 0}
    assert stops(NUMBERS["idle_gpu"])[0] == 60


def test_a_measured_value_stands_between_the_stops() -> None:
    offered = stops(UPLOAD)
    assert offered.index(250_000) < stop_of(260_000, offered) < offered.index(250_000) + 1
    assert stop_of(0.5, offered) == 0
