from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text import units
from app.text.messages import sentence
from core.api.errors import UsageError
from core.api.preferences.preferences import PREFERENCES, Preference, Unit

NOW = datetime(2026, 3, 5, 14, 30, tzinfo=timezone(timedelta(hours=2)))


def refusal(parse: Callable[[], object]) -> str:
    """The sentence that answers it."""
    with pytest.raises(UsageError) as refused:
        parse()
    return sentence(refused.value.message)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("10GB", "bytes", 10 * 10**9),
        ("10 GiB", "bytes", 10 << 30),
        ("1.5 gb", "bytes", 1_500_000_000),
        ("512 MiB", "bytes", 512 << 20),
        ("10G", "bytes", 10 * 10**9),
        ("4096", "bytes", 4096),
        ("0", "bytes", 0),
        ("1MB/s", "bytes/s", 1_000_000),
        ("8 Mbit/s", "bytes/s", 1_000_000),
        ("8Mbps", "bytes/s", 1_000_000),
        ("1 MBps", "bytes/s", 1_000_000),
        ("100 kbit per second", "bytes per second", 12_500),
        ("250000", "bytes/s", 250_000),
        ("80%", "percent", 80),
        ("80", "%", 80),
        ("75C", "°C", 75),
        ("75 °C", "celsius", 75),
        ("150 W", "watts", 150),
        ("2h", "seconds", 7200),
        ("90m", "seconds", 5400),
        ("1h30m", "seconds", 5400),
        ("1 h 30 min", "seconds", 5400),
        ("45", "seconds", 45),
        ("4", "threads", 4),
        ("4 threads", "threads", 4),
        ("15m", "minutes", 15),
        ("1h", "minutes", 60),
        ("15", "minutes", 15),
        ("22:00", "time", 1320),
        ("0:30", "time", 30),
        ("15", "day", 15),
        ("on", "switch", 1),
        ("No", "switch", 0),
        ("4001", "port", 4001),
    ],
)
def test_a_quantity_is_read_in_its_unit(text: str, unit: str, value: int) -> None:
    assert units.parse(text, unit) == value


@pytest.mark.parametrize(
    ("text", "unit", "word"),
    [
        ("much", "bytes", "a size: write 10GB"),
        ("10 Mbit", "bytes", "a size"),
        ("-3GB", "bytes", "a size"),
        ("1,5 GB", "bytes", "a size"),
        ("", "bytes", "a size"),
        ("9" * 400 + "GB", "bytes", "a size"),
        ("0.2", "bytes", "whole number"),
        ("8 Mb/s", "bytes/s", "bits or bytes"),
        ("8mb/s", "bytes/s", "bits or bytes"),
        ("fast", "bytes/s", "a rate: write 1MB/s"),
        ("80C", "percent", "a percentage"),
        ("75%", "°C", "a temperature"),
        ("2 weeks", "seconds", "a duration"),
        ("h", "seconds", "a duration"),
        ("2.5", "threads", "whole number of threads"),
        ("two", "threads", "whole number of threads"),
        ("٣", "threads", "whole number"),
        ("90s", "time", "a time of day: write 22:00"),
        ("22:60", "time", "a time of day"),
        ("maybe", "switch", "a switch: write on or off"),
        ("10 s", "minutes", "whole number of minutes"),
    ],
)
def test_what_cannot_be_read_is_told_with_an_example(text: str, unit: str, word: str) -> None:
    assert word in refusal(lambda: units.parse(text, unit))


def test_a_value_outside_the_range_names_the_limit_and_the_range_in_human_units() -> None:
    said = refusal(lambda: units.parse_in_range("3kB", PREFERENCES["cache_size"]))
    assert said == "cache_size must be from 64 MiB to 1 PiB, not 3kB."


def test_a_range_tells_the_word_for_zero_and_the_least_beside_it() -> None:
    assert units.write_range(PREFERENCES["threads"]) == "automatic or from 1 to 1024"
    rate = Preference("rate", "bytes/s", 0, 1 << 40, 0, page="network", zero="unlimited", least=16_000)
    assert units.write_range(rate) == "unlimited or from 16 kB/s to 1 TiB/s"
    said = refusal(lambda: units.parse_in_range("8 kB/s", rate))
    assert said.startswith("rate must be unlimited or from 16 kB/s")


def test_a_value_that_cannot_be_read_names_the_limit() -> None:
    said = refusal(lambda: units.parse_in_range("big", PREFERENCES["cache_size"]))
    assert said == "cache_size: “big” is not a size: write 10GB or 512 MiB."


def test_the_word_for_zero_is_read_and_written_where_there_is_one() -> None:
    assert units.parse_in_range("automatic", PREFERENCES["threads"]) == 0
    assert units.write(0, "bytes/s", "unlimited") == "unlimited"
    assert "“unlimited” is not a rate" in refusal(lambda: units.parse("unlimited", "bytes/s"))


HIGHEST = {"time": 1440, "switch": 1}


@given(
    st.sampled_from(get_args(Unit)).flatmap(
        lambda unit: st.tuples(st.integers(0, HIGHEST.get(unit, 1 << 40)), st.just(unit))
    )
)
def test_what_is_written_reads_back_exactly(quantity: tuple[int, str]) -> None:
    value, unit = quantity
    assert units.parse(units.write(value, unit), unit) == value


def test_every_preference_can_be_written_and_read_in_its_whole_range() -> None:
    for preference in PREFERENCES.values():
        for value in (preference.lowest, preference.default, preference.highest):
            assert units.parse_in_range(units.write(value, preference.unit, preference.zero), preference) == value


@pytest.mark.parametrize(("text", "seconds"), [("2h", 7200), ("90m", 5400), ("1h30m", 5400), ("1d", 86400), ("3s", 3)])
def test_a_duration_is_read(text: str, seconds: int) -> None:
    assert units.parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "0m", "0.1s", "90", "400d", "-1h", "1h x", "1 hour ago"])
def test_a_duration_that_is_none_is_a_wrong_use(text: str) -> None:
    with pytest.raises(UsageError):
        units.parse_duration(text)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=NOW.tzinfo)),
        ("today", datetime(2026, 3, 5, tzinfo=NOW.tzinfo)),
        ("yesterday", datetime(2026, 3, 4, tzinfo=NOW.tzinfo)),
        ("7d", NOW - timedelta(days=7)),
        ("2026-01-31T12:00:00+00:00", datetime(2026, 1, 31, 14, tzinfo=NOW.tzinfo)),
    ],
)
def test_the_start_of_a_period_is_in_the_zone_of_the_volunteer(text: str, start: datetime) -> None:
    assert units.parse_since(text, NOW) == start


@pytest.mark.parametrize("text", ["tomorrow", "31.1.2026", "2026-13-01", "", "99999999d"])
def test_a_period_that_is_none_is_a_wrong_use(text: str) -> None:
    with pytest.raises(UsageError):
        units.parse_since(text, NOW)
