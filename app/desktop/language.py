"""Which language the window uses, and how it writes numbers, times and dates."""

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from app.desktop.window_settings import Language
from app.text import i18n
from app.text.formats import region
from app.text.formats.region import Region

_NARROW_NO_BREAK_SPACE = "\N{NARROW NO-BREAK SPACE}"
_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
_qt: QTranslator | None = None
"""Qt's own texts, such as the menu of a text field."""


def apply(application: QApplication, wanted: Language) -> None:
    """Use the language from now on. Texts that are already shown stay as they are."""
    global _qt
    code = of_the_system() if wanted == "system" else wanted
    locale = locale_for(code, QLocale.system())
    QLocale.setDefault(locale)
    i18n.use(code)
    region.use(region_of(locale))
    if _qt is not None:
        application.removeTranslator(_qt)
        _qt = None
    translator = QTranslator(application)
    if code != "en" and translator.load(f"qtbase_{code}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        application.installTranslator(translator)
        _qt = translator


def of_the_system() -> str:
    """The first of the person's languages that has a translation, else English."""
    wanted = (name.partition("-")[0] for name in QLocale.system().uiLanguages())
    return next((code for code in wanted if code in i18n.languages()), "en")


def locale_for(code: str, system: QLocale) -> QLocale:
    """The language in the country that the system is set to."""
    language = QLocale(code).language()
    if system.language() == language or (code == "en" and system.language() == QLocale.Language.C):
        return system
    return QLocale(language, system.territory())


def region_of(locale: QLocale) -> Region:
    """How this locale writes. Spaces between digits and before units do not break (ISO 80000-1)."""
    short = QLocale.FormatType.ShortFormat
    return Region(
        decimal_mark=locale.decimalPoint(),
        group=_NARROW_NO_BREAK_SPACE,
        space=_NO_BREAK_SPACE,
        has_24_hours="a" not in locale.timeFormat(short).lower(),
        halves_of_day=(locale.amText().upper(), locale.pmText().upper()),
        first_day=locale.firstDayOfWeek().value - 1,
        days=tuple(locale.dayName(day) for day in range(1, 8)),
        short_days=tuple(locale.dayName(day, short) for day in range(1, 8)),
        months=tuple(locale.monthName(month) for month in range(1, 13)),
        short_months=tuple(locale.monthName(month, short) for month in range(1, 13)),
    )
