"""Quantities as they are written and read."""

from collections.abc import Iterator
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text import messages
from app.text.formats import region
from app.text.typed import quantities
from core.api.errors import UsageError
from core.api.preferences.preferences import PREFERENCES
from core.api.preferences.value_types import Number, Unit
from tests.app.spaces import SPACE

HIGHEST: dict[Unit, int] = {"time": 1439, "day": 28}
RATE = Number("bytes/s", 0, 10**12, 0, zero="unlimited", least=16_000)
PERCENT = Number("percent", 5, 100, 80)
NUMBERS = {name: each.type for name, each in PREFERENCES.items() if isinstance(each.type, Number)}


@pytest.fixture
def decimal_comma() -> Iterator[None]:
    before = region.current()
    region.use(region.Region(decimal_mark=",", group="."))
    yield
    region.use(before)


def plain(text: str) -> str:
    return text.replace(SPACE, " ")


def any_of(unit: Unit) -> Number:
    return Number(unit, 0, HIGHEST.get(unit, 1 << 60), 0)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("10GB", "bytes", 10 * 10**9),
        ("10 GiB", "bytes", 10 << 30),
        ("1.5 gb", "bytes", 1_500_000_000),
        ("1,5 gb", "bytes", 1_500_000_000),
        ("512 MiB", "bytes", 512 << 20),
        ("10G", "bytes", 10 * 10**9),
        ("4096", "bytes", 4096),
        ("0", "bytes", 0),
        ("1MB/s", "bytes/s", 1_000_000),
        ("8 Mbit/s", "bytes/s", 1_000_000),
        ("8Mbps", "bytes/s", 1_000_000),
        ("1 MBps", "bytes/s", 1_000_000),
        ("100 kbit per second", "bytes/s", 12_500),
        ("250000", "bytes/s", 250_000),
        ("80%", "percent", 80),
        ("80", "percent", 80),
        ("75C", "celsius", 75),
        ("75\N{NO-BREAK SPACE}°C", "celsius", 75),
        ("150 W", "watts", 150),
        ("2h", "seconds", 7200),
        ("90m", "seconds", 5400),
        ("1 h 30 min", "seconds", 5400),
        ("45", "seconds", 45),
        ("4", "threads", 4),
        ("4 threads", "threads", 4),
        ("22:00", "time", 1320),
        ("0:30", "time", 30),
        ("7", "time", 420),
        ("10 pm", "time", 1320),
        ("12:15 AM", "time", 15),
        ("15", "day", 15),
        ("4001", "port", 4001),
        ("0.31", "price", 310),
    ],
)
def test_a_quantity_is_read_in_its_unit(text: str, unit: Unit, value: int) -> None:
    assert quantities.parse(text, any_of(unit)) == value


@pytest.mark.parametrize(
    ("text", "unit", "example"),
    [
        ("much", "bytes", "20 GB"),
        ("10 Mbit", "bytes", "20 GB"),
        ("-3GB", "bytes", "20 GB"),
        ("1,500 GB", "bytes", "20 GB"),
        ("", "bytes", "20 GB"),
        ("9" * 400 + "GB", "bytes", "20 GB"),
        ("0.2", "bytes", "20 GB"),
        ("fast", "bytes/s", "8 Mbit/s"),
        ("80C", "percent", "80 %"),
        ("75%", "celsius", "75 °C"),
        ("2 weeks", "seconds", "3 min"),
        ("h", "seconds", "3 min"),
        ("2.5", "threads", "2"),
        ("٣", "threads", "2"),
        ("90s", "time", "22:00"),
        ("22:60", "time", "22:00"),
    ],
)
def test_what_cannot_be_read_is_answered_with_an_example(text: str, unit: Unit, example: str) -> None:
    with pytest.raises(UsageError) as refused:
        quantities.parse(text, any_of(unit))
    assert plain(messages.sentence(refused.value.message)) == f"“{text}” cannot be read. Write for example {example}."


@pytest.mark.usefixtures("decimal_comma")
@pytest.mark.parametrize("text", ["1.000 GB", "20.500 GB", "1.000.000 GB"])
def test_points_between_thousands_are_not_taken_for_decimal_marks(text: str) -> None:
    with pytest.raises(UsageError, match="value_unclear"):
        quantities.parse(text, any_of("bytes"))


@pytest.mark.usefixtures("decimal_comma")
@pytest.mark.parametrize(("text", "value"), [("1,500 GB", 1_500_000_000), ("1.5 GB", 1_500_000_000), ("0.125 kB", 125)])
def test_both_decimal_marks_are_read_where_they_are_clear(text: str, value: int) -> None:
    assert quantities.parse(text, any_of("bytes")) == value


@pytest.mark.parametrize("text", ["8 Mb/s", "8mb/s"])
def test_a_rate_that_may_mean_bits_or_bytes_is_not_guessed(text: str) -> None:
    with pytest.raises(UsageError, match="rate_ambiguous"):
        quantities.parse(text, RATE)


@pytest.mark.parametrize(
    ("text", "number", "allowed"),
    [
        ("120", PERCENT, "5 % to 100 %"),
        ("8 kB/s", RATE, "128 kbit/s to 8 Tbit/s, or “unlimited”"),
        ("25:00", Number("time", 0, 1439, 0), "00:00 to 23:59"),
    ],
)
def test_a_value_out_of_range_is_answered_with_the_range(text: str, number: Number, allowed: str) -> None:
    with pytest.raises(UsageError) as refused:
        quantities.parse(text, number)
    assert plain(messages.sentence(refused.value.message)) == f"“{text}” is out of range. Allowed: {allowed}."


@pytest.mark.parametrize(("text", "value"), [("8", 1_000_000), ("1.5", 187_500), ("1 MB/s", 1_000_000)])
def test_a_number_alone_is_in_the_unit_that_people_mean(text: str, value: int) -> None:
    assert quantities.parse(text, RATE, usual_unit=True) == value


def test_the_word_for_zero_is_read_and_written_where_there_is_one() -> None:
    assert quantities.parse("Unlimited", RATE) == 0
    assert quantities.write(0, RATE) == "unlimited"
    assert plain(quantities.write(0, any_of("bytes/s"))) == "0 bit/s"


@given(
    st.sampled_from(get_args(Unit)).flatmap(
        lambda unit: st.tuples(st.integers(0, HIGHEST.get(unit, 1 << 40)), st.just(unit))
    )
)
def test_what_is_written_reads_back_exactly(quantity: tuple[int, Unit]) -> None:
    value, unit = quantity
    assert quantities.parse(quantities.write(value, any_of(unit)), any_of(unit)) == value


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
def test_every_number_is_written_and_read_in_its_whole_range(number: Number) -> None:
    for value in (number.lowest, number.smallest, number.default, number.highest):
        assert quantities.parse(quantities.write(value, number), number) == value


@pytest.mark.parametrize(
    ("value", "number", "text"),
    [
        (20 * 10**9, any_of("bytes"), "20 GB"),
        (10 << 30, any_of("bytes"), "10 GiB"),
        (187_500, RATE, "1.5 Mbit/s"),
        (5400, any_of("seconds"), "1 h 30 min"),
        (310, any_of("price"), "0.31/kWh"),
    ],
)
def test_a_value_is_written_in_the_unit_in_which_it_is_short(value: int, number: Number, text: str) -> None:
    assert plain(quantities.write(value, number)) == text


@pytest.mark.usefixtures("decimal_comma")
def test_decimals_are_written_and_read_as_the_region_has_them() -> None:
    assert quantities.write(187_500, RATE) == "1,5 Mbit/s"
    assert quantities.parse("1,125 Mbit/s", RATE) == 140_625


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (501_254_144, "bytes", "501 MB"),
        (0, "bytes", "0 B"),
        (7_025, "bytes/s", "56.2 kbit/s"),
        (29.6, "percent", "30 %"),
    ],
)
def test_a_measured_value_is_rounded(value: float, unit: Unit, text: str) -> None:
    assert plain(quantities.write_live(value, any_of(unit))) == text
