"""Which language the window uses, and how it writes numbers, times and dates."""

from collections.abc import Sequence

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from app.desktop.qt_texts import QtTexts
from app.text import i18n
from app.text.formats import region
from app.text.formats.region import Region

_NARROW_NO_BREAK_SPACE = "\N{NARROW NO-BREAK SPACE}"
_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
_PERCENT_CLOSE = {QLocale.Language.Bangla, QLocale.Language.Chinese, QLocale.Language.Portuguese}
"""Languages that write 9%, not 9 % (CLDR, percentFormat). English has the space of ISO 80000-1, as all units."""
_qt: QTranslator | None = None
"""Qt's own texts, such as the menu of a text field."""


def apply(application: QApplication, wanted: str) -> None:
    """Use the language from now on. Texts that are already shown stay as they are."""
    global _qt
    code = negotiate(QLocale.system().uiLanguages()) if wanted == "system" else wanted
    locale = locale_for(code, QLocale.system())
    QLocale.setDefault(locale)
    application.setLayoutDirection(QLocale(code).textDirection())
    i18n.use(code)
    region.use(region_of(locale))
    if _qt is not None:
        application.removeTranslator(_qt)
        _qt = None
    if code != "en":
        _qt = QTranslator(application)
        if not _qt.load(f"qtbase_{code}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
            _qt = QtTexts(application)
        application.installTranslator(_qt)


def negotiate(wanted: Sequence[str]) -> str:
    """The first of the person's languages that has a translation, else English.

    A variant of the language in the same script will do: Brazilian Portuguese for Portugal, but no simplified Chinese
    for Taiwan.
    """
    translated = {_written(QLocale(code)): code for code in i18n.languages()}
    return next((translated[name] for name in map(_written, map(QLocale, wanted)) if name in translated), "en")


def locale_for(code: str, system: QLocale) -> QLocale:
    """The language in the country that the system is set to."""
    of_code = QLocale(code)
    if _written(system) == _written(of_code) or (code == "en" and system.language() == QLocale.Language.C):
        return system
    in_country = QLocale(of_code.language(), of_code.script(), system.territory())
    return in_country if _written(in_country) == _written(of_code) else of_code


def _written(locale: QLocale) -> tuple[QLocale.Language, QLocale.Script]:
    return locale.language(), locale.script()


def region_of(locale: QLocale) -> Region:
    """How this locale writes. Spaces between digits and before units do not break (ISO 80000-1)."""
    short = QLocale.FormatType.ShortFormat
    short_months = tuple(locale.monthName(month, short) for month in range(1, 13))
    months = tuple(locale.monthName(month) for month in range(1, 13))
    return Region(
        decimal_mark=locale.decimalPoint(),
        group=_NARROW_NO_BREAK_SPACE,
        space=_NO_BREAK_SPACE,
        before_percent="" if locale.language() in _PERCENT_CLOSE else _NO_BREAK_SPACE,
        currency_first=locale.toCurrencyString(1, "EUR").startswith("EUR"),
        has_24_hours="a" not in locale.timeFormat(short).lower(),
        halves_of_day=(locale.amText().upper(), locale.pmText().upper()),
        first_day=locale.firstDayOfWeek().value - 1,
        days=tuple(locale.dayName(day) for day in range(1, 8)),
        short_days=tuple(locale.dayName(day, short) for day in range(1, 8)),
        # Chinese counts months in dates: 2026年3月14日, and names them elsewhere: 三月.
        months=short_months if short_months[0][0].isdigit() else months,
        short_months=short_months,
    )
