"""Numbers as people read them."""

from collections.abc import Iterator

import pytest

from app.text.formats import numbers, region
from app.text.formats.region import Region

NARROW, WIDE = "\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}"


@pytest.fixture(autouse=True)
def window_region() -> Iterator[None]:
    before = region.current()
    region.use(Region(group=NARROW, space=WIDE))
    yield
    region.use(before)


def plain(text: str) -> str:
    return text.replace(WIDE, " ").replace(NARROW, " ")


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (999, "999"), (48_210, "48 210"), (9_999_999, "9 999 999"), (12_340_000, "12.3 M")]
)
def test_counts_are_grouped_and_shortened_when_huge(number: int, text: str) -> None:
    assert plain(numbers.count(number)) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (0.418, "0.42"), (7.31, "7.3"), (12.0, "12"), (99.4, "99.4"), (152.3, "152"), (1240.4, "1 240")],
)
def test_figures_have_about_three_digits(number: float, text: str) -> None:
    assert plain(numbers.figure(number)) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (3_400_000, "3.4 MB"), (999_960, "1.0 MB"), (318e9, "318 GB")],
)
def test_sizes_are_in_decimal_units(number: float, text: str) -> None:
    assert plain(numbers.size(number)) == text


@pytest.mark.parametrize(
    ("done", "total", "text"),
    [
        (1_200_000, 3_400_000, "1.2 of 3.4 MB"),
        (900, 3_400_000, "0.0 of 3.4 MB"),
        (5_000_000, 3_400_000, "3.4 of 3.4 MB"),
        (1_200_000, 0, "1.2 MB"),
        (20, 400, "20 of 400 B"),
        (154_400_000, 154_400_000, "154 of 154 MB"),
        (5_000_000, 154_400_000, "5.0 of 154 MB"),
    ],
)
def test_a_share_of_a_download_has_the_unit_of_the_whole(done: int, total: int, text: str) -> None:
    assert plain(numbers.size_of(done, total)) == text


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 bit/s"), (262_500, "2.1 Mbit/s"), (125_000_000, "1.0 Gbit/s"), (1000, "8.0 kbit/s")]
)
def test_rates_are_bits_as_providers_sell_them(number: float, text: str) -> None:
    assert plain(numbers.rate(number)) == text


@pytest.mark.parametrize(
    ("now", "ceiling", "texts"),
    [
        (262_000, 1_000_000, ("2.1", "of 8 Mbit/s")),
        (262_000, 0, ("2.1", "Mbit/s")),
        (100, 12_500, ("0.8", "of 100 kbit/s")),
        (0, 0, ("0", "bit/s")),
    ],
)
def test_a_rate_has_the_unit_of_its_ceiling(now: float, ceiling: int, texts: tuple[str, str]) -> None:
    assert tuple(map(plain, numbers.rate_of(now, ceiling))) == texts


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0 %"), (0.004, "< 1 %"), (0.09, "9 %"), (0.996, "99 %"), (1.0, "100 %")]
)
def test_percent_is_never_all_before_it_is_all(share: float, text: str) -> None:
    assert plain(numbers.percent(share)) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-3, "0 s"),
        (19.6, "20 s"),
        (59.6, "1 min"),
        (42 * 60, "42 min"),
        (3600, "1 h"),
        (11_520, "3 h 12 min"),
        (3599, "1 h"),
        (187_200, "2 d 4 h"),
    ],
)
def test_durations_have_two_units_at_most(seconds: float, text: str) -> None:
    assert plain(numbers.duration(seconds)) == text


def test_a_terminal_gets_only_ordinary_characters() -> None:
    region.use(Region())
    assert numbers.count(48_210) == "48 210"
    assert f"{numbers.size(3_400_000)}, {numbers.work(3.2e15)}, {numbers.percent(0.004)}".isascii()


@pytest.mark.parametrize(("joules", "text"), [(1.8e6, "500 Wh"), (3.6e6, "1 kWh"), (4.5e6, "1.2 kWh")])
def test_energy_below_a_kilowatt_hour_is_in_watt_hours(joules: float, text: str) -> None:
    assert plain(numbers.energy(joules)) == text
