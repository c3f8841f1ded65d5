"""Which language the window speaks, and how it writes numbers, times and dates."""

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from app.desktop.window_settings import Language
from app.text import i18n

_qt: QTranslator | None = None
"""Qt's own texts, such as the menu of a text field."""


def speak(application: QApplication, wanted: Language) -> None:
    """From now on; what is already on the screen has to be made anew."""
    global _qt
    code = of_the_system() if wanted == "system" else wanted
    QLocale.setDefault(region(code, QLocale.system()))
    i18n.use(code, QLocale().decimalPoint())
    if _qt is not None:
        application.removeTranslator(_qt)
        _qt = None
    translator = QTranslator(application)
    if code != "en" and translator.load(f"qtbase_{code}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        application.installTranslator(translator)
        _qt = translator


def of_the_system() -> str:
    """The first of the person's languages that there is a translation for, else English."""
    wanted = (name.partition("-")[0] for name in QLocale.system().uiLanguages())
    return next((code for code in wanted if code in i18n.languages()), "en")


def region(code: str, system: QLocale) -> QLocale:
    """How numbers, times and dates are written: the language's way, in the country that the system is set to."""
    language = QLocale(code).language()
    if system.language() == language or (code == "en" and system.language() == QLocale.Language.C):
        return system
    return QLocale(language, system.territory())
