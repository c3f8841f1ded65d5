"""Moments, days and months as people read them."""

from collections.abc import Iterator
from datetime import datetime

import pytest
from PySide6.QtCore import QLocale

from app.desktop import language
from app.text.formats import region, times
from tests.app.snapshots import NOW


@pytest.fixture(autouse=True)
def own_region() -> Iterator[None]:
    before = region.current()
    yield
    region.use(before)


@pytest.mark.parametrize(
    ("locale", "time", "hour"), [("en_GB", "23:05", "23"), ("en_US", "11:05 PM", "11 PM"), ("de_DE", "23:05", "23")]
)
def test_the_time_of_day_follows_the_region(locale: str, time: str, hour: str) -> None:
    region.use(language.region_of(QLocale(locale)))
    assert times.time_of_day(23, 5).replace("\N{NO-BREAK SPACE}", " ") == time
    assert times.hour(23).replace("\N{NO-BREAK SPACE}", " ") == hour


@pytest.mark.parametrize(("hour", "text"), [(0, "12:00 AM"), (12, "12:00 PM"), (24, "12:00 AM")])
def test_midnight_and_noon_are_twelve_where_the_day_has_two_halves(hour: int, text: str) -> None:
    region.use(language.region_of(QLocale("en_US")))
    assert times.time_of_day(hour, 0).replace("\N{NO-BREAK SPACE}", " ") == text


@pytest.mark.parametrize(("locale", "text"), [("de_DE", "16:06:40"), ("en_US", "4:06:40 PM")])
def test_a_moment_to_the_second_follows_the_region(london: None, locale: str, text: str) -> None:
    region.use(language.region_of(QLocale(locale)))
    assert times.second(NOW).replace("\N{NO-BREAK SPACE}", " ") == text


def test_weeks_begin_as_in_the_region() -> None:
    assert language.region_of(QLocale("en_US")).first_day == 6
    assert language.region_of(QLocale("de_DE")).first_day == 0


def test_names_of_days_and_months_are_the_region_s() -> None:
    region.use(language.region_of(QLocale("de_DE")))
    assert (times.weekday(0), times.short_weekday(0)) == ("Montag", "Mo")
    assert [times.month(number) for number in (1, 3)] == ["Jan", "März"]


@pytest.mark.parametrize(
    ("later", "text"),
    [
        (600, "16:16"),
        (86_400, "tomorrow 16:06"),
        (3 * 86_400, "Wed 16:06"),
        (10 * 86_400, "25 Jun 16:06"),
        (300 * 86_400, "11 April 2026 16:06"),
    ],
)
def test_a_moment_on_another_day_says_which(london: None, later: float, text: str) -> None:
    now = 1_750_000_000.0
    assert times.clock(now + later, now) == text


def test_a_moment_of_another_year_has_its_year(london: None) -> None:
    then = datetime(2026, 3, 14, 21, 7).timestamp()  # noqa: DTZ001 - local on purpose
    assert times.moment(then, then + 86_400) == "14 Mar, 21:07"
    assert times.moment(then, then + 365 * 86_400) == "14 Mar 2026, 21:07"
