"""Numbers, dates and typed values of each language, and which language and region apply."""

from datetime import UTC, datetime

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication

from app.desktop import language
from app.text.formats import numbers, region, times
from app.text.i18n import trn
from app.text.typed import values
from core.api.preferences.preferences import PREFERENCES, Preference
from core.api.preferences.value_types import Choice, Number, Switch, Type, Value, Week
from tests.app.spaces import SPACE
from tests.translations import TRANSLATED

pytestmark = pytest.mark.usefixtures("english_again")


def test_numbers_times_and_dates_are_written_the_language_s_way(qapp: QApplication, london: None) -> None:
    language.apply(qapp, "de")
    assert numbers.size(3_400_000) == "3,4\N{NO-BREAK SPACE}MB"
    assert numbers.figure(7.25) == "7,2"
    assert times.day(0) == "1. Januar 1970"
    assert trn("1 thread", "{amount} threads", 1, amount=1) == "1 Thread"
    assert trn("1 thread", "{amount} threads", 4, amount=4) == "4 Threads"
    now = datetime(2025, 6, 16, 11, tzinfo=UTC).timestamp()  # a Monday, noon in London
    assert times.clock(now + 3600, now) == "13:00"
    assert times.clock(now + 86400, now) == "morgen 12:00"
    assert times.clock(now + 2 * 86400, now) == "Mi. 12:00"
    assert times.clock(now + 10 * 86400, now) == "26. Juni 12:00"


def test_the_region_of_the_system_counts_where_it_speaks_the_language() -> None:
    austria, britain = QLocale("de_AT"), QLocale("en_GB")
    assert language.locale_for("de", austria) == austria
    assert language.locale_for("en", britain) == britain
    assert language.locale_for("en", QLocale.c()) == QLocale.c()
    assert language.locale_for("de", QLocale.c()).language() is QLocale.Language.German


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (["de-AT", "en-GB"], "de"),
        (["tlh", "de"], "de"),
        (["pt-PT"], "pt_BR"),
        (["es-MX"], "es"),
        (["zh"], "zh_CN"),
        (["zh-Hans-SG"], "zh_CN"),
        (["zh-Hant-TW", "zh-TW"], "en"),
        (["bn-IN"], "bn"),
        (["C"], "en"),
        ([], "en"),
    ],
)
def test_the_first_of_the_person_s_languages_that_is_translated_is_used(wanted: list[str], code: str) -> None:
    assert language.negotiate(wanted) == code


IN_LANGUAGES = {
    "de": ("3,4 MB", "3 h 5 min", "2 d 4 h", "9 %", "14. März 2026", "14. März 2026, 21:07", "12,40 EUR"),
    "fr": ("3,4 Mo", "3 h 5 min", "2 j 4 h", "9 %", "14 mars 2026", "14 mars 2026 à 21:07", "12,40 EUR"),
    "es": ("3,4 MB", "3 h 5 min", "2 d 4 h", "9 %", "14 de marzo de 2026", "14 de mar de 2026, 21:07", "12,40 EUR"),
    "pt_BR": ("3,4 MB", "3 h 5 min", "2 d 4 h", "9%", "14 de março de 2026", "14 de mar. de 2026, 21:07", "EUR 12,40"),
    "zh_CN": ("3.4 MB", "3 小时 5 分钟", "2 天 4 小时", "9%", "2026年3月14日", "2026年3月14日 21:07", "EUR 12.40"),
    "bn": ("3.4 MB", "3 ঘণ্টা 5 মিনিট", "2 দিন 4 ঘণ্টা", "9%", "14 মার্চ 2026", "14 মার্চ 2026, 9:07 PM", "12.40 EUR"),
}
"""Each in the language's own country."""
TYPED = [preference for preference in PREFERENCES.values() if not isinstance(preference.type, Week)]
"""A week is painted."""
THEN, LATER = datetime(2026, 3, 14, 21, 7, tzinfo=UTC).timestamp(), datetime(2027, 1, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("code", IN_LANGUAGES)
def test_units_percents_dates_and_money_are_the_language_s(qapp: QApplication, london: None, code: str) -> None:
    language.apply(qapp, code)
    region.use(language.region_of(QLocale("es_ES" if code == "es" else code)))
    found = (
        numbers.size(3_400_000),
        numbers.duration(3 * 3600 + 300),
        numbers.duration(2 * 86_400 + 4 * 3600),
        numbers.percent(0.09),
        times.day(THEN),
        times.moment(THEN, LATER),
        numbers.money(12.4, "EUR"),
    )
    assert tuple(text.replace(SPACE, " ") for text in found) == IN_LANGUAGES[code]


@pytest.mark.parametrize("code", TRANSLATED)
@pytest.mark.parametrize("preference", TYPED, ids=lambda preference: preference.name)
def test_every_value_reads_back_as_the_language_writes_it(
    qapp: QApplication, code: str, preference: Preference
) -> None:
    language.apply(qapp, code)
    kind = preference.type
    for value in (preference.default, *others(kind)):
        assert values.parse(values.write(value, kind), kind) == value


def others(kind: Type) -> tuple[Value, ...]:
    match kind:
        case Number():
            return kind.smallest, kind.highest, kind.highest // 2
        case Switch():
            return True, False
        case Choice():
            return tuple(kind.options)
        case _:
            return ()


@pytest.mark.parametrize("code", ["es_US", "es_MX", "en_US"])
def test_hours_of_halves_of_the_day_read_back_in_their_spellings(code: str) -> None:
    region.use(language.region_of(QLocale(code)))
    kind = PREFERENCES["network_from"].type
    assert values.parse(values.write(22 * 60 + 30, kind), kind) == 22 * 60 + 30
