"""Values of limits as they are read, typed and dragged."""

import dataclasses
from typing import get_args

import pytest

from app.text import quantities
from app.text.messages import sentence
from app.text.numbers import SPACE
from core.api.errors import UsageError
from core.api.preferences.limits import LimitInfo
from core.api.preferences.preferences import PREFERENCES, Preference, Unit


def limit(preference: Preference, value: int | None = None) -> LimitInfo:
    """As the engine would tell it."""
    now = preference.default if value is None else value
    declared = dataclasses.asdict(preference)
    fields = {
        name: declared[name] for name in ("name", "default", "unit", "lowest", "highest", "page", "zero", "least")
    }
    return LimitInfo(value=now, effective=now, **fields)


def plain(text: str) -> str:
    return text.replace(SPACE, " ")


UPLOAD = limit(PREFERENCES["upload_limit"])
PERCENT = LimitInfo("share", 80, 80, "percent", 5, 100, 80)
CLOCK = LimitInfo("from", 0, 0, "time", 0, 1439, 0)


@pytest.mark.parametrize("unit", get_args(Unit))
def test_every_unit_reads_back_what_it_writes(unit: str) -> None:
    highest = {"switch": 1, "day": 28, "time": 1439, "bytes": 10**12}.get(unit, 3_000_000)
    one = LimitInfo("any", 1, 1, unit, 1 if unit == "day" else 0, highest, 1)
    for value in quantities.stops(one):
        assert quantities.parse(quantities.write(value, one), one) == pytest.approx(value, rel=0.02)


@pytest.mark.parametrize("preference", PREFERENCES.values(), ids=lambda preference: preference.name)
def test_every_limit_has_stops_within_its_range_and_finds_them_again(preference: Preference) -> None:
    known = limit(preference)
    stops = quantities.stops(known)
    assert 2 <= len(stops) <= 130
    assert len(set(stops)) == len(stops)
    assert all(preference.lowest <= stop <= preference.highest for stop in stops)
    assert [quantities.stop_of(stop, stops, known) for stop in stops] == list(range(len(stops)))
    assert 0 <= quantities.stop_of(known.default, stops, known) <= len(stops) - 1
    assert quantities.parse(quantities.write(known.default, known), known) == known.default


@pytest.mark.parametrize(
    ("typed", "bytes_per_second"),
    [("8", 1_000_000), ("8 Mbit/s", 1_000_000), ("1,5", 187_500), ("1 MB/s", 1_000_000), ("no limit", 0)],
)
def test_a_rate_is_typed_as_providers_sell_it(typed: str, bytes_per_second: int) -> None:
    assert quantities.parse(typed, UPLOAD) == bytes_per_second


@pytest.mark.parametrize(("typed", "minutes"), [("22:30", 1350), ("7", 420), ("10 pm", 1320), ("12:15 AM", 15)])
def test_a_time_of_day_is_typed_in_either_way(typed: str, minutes: int) -> None:
    assert quantities.parse(typed, CLOCK) == minutes


@pytest.mark.parametrize(
    ("typed", "known", "said"),
    [
        ("120", PERCENT, "“120” is out of range. Allowed: 5 % to 100 %."),
        ("-5", PERCENT, "“-5” cannot be read. Write for example 80 %."),
        ("1 kbit/s", UPLOAD, "“1 kbit/s” is out of range. Allowed: 128 kbit/s to 8.8 Tbit/s, or “no limit”."),
        ("fast", UPLOAD, "cannot be read. Write for example"),
        ("25:00", CLOCK, "is out of range. Allowed: 00:00 to 23:59."),
        ("", PERCENT, "cannot be read"),
    ],
)
def test_a_bad_entry_is_told_with_the_range_or_an_example(typed: str, known: LimitInfo, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        quantities.parse(typed, known)
    assert said in plain(sentence(refused.value.message))


def test_no_limit_stands_at_the_generous_end_and_automatic_at_the_other() -> None:
    assert quantities.stops(UPLOAD)[-1] == 0
    assert quantities.stops(limit(PREFERENCES["threads"]))[0] == 0


def test_a_measured_value_stands_between_the_stops() -> None:
    stops = quantities.stops(UPLOAD)
    assert stops.index(250_000) < quantities.stop_of(260_000, stops, UPLOAD) < stops.index(250_000) + 1
    assert quantities.stop_of(0.5, stops, UPLOAD) == 0
