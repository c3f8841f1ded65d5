"""Translates every text that a person reads: English is in the code, other languages are in `resources/locale`.

Sentences are looked up whole and filled in afterwards: word order belongs to the language. A catalogue is gettext's, so
the plural forms are each language's own. Without `use` everything stays English.
"""

import gettext
from pathlib import Path

LOCALE = Path(__file__).resolve().parents[2] / "resources" / "locale"
DOMAIN = "idlehive"

_catalogue: gettext.NullTranslations = gettext.NullTranslations()


def languages() -> dict[str, str]:
    """What Idlehive can speak: each language's code, which is its folder's, and its name in that language."""
    return {
        "en": "English",
        "de": "Deutsch",
        "fr": "Français",
        "es": "Español",
        "pt_BR": "Português (Brasil)",
        "zh_CN": "简体中文",
        "bn": "বাংলা",
    }


def use(code: str) -> None:
    """Use a language of `languages` from now on. Texts that are already shown stay as they are."""
    global _catalogue
    _catalogue = gettext.translation(DOMAIN, LOCALE, [code], fallback=code == "en")


def N_(text: str) -> str:  # noqa: N802
    """Marks a text in a table for the catalogue, under gettext's usual name; `translate` looks it up at its use."""
    return text


def translate(text: str) -> str:
    """A text that `N_` marks, in the volunteer's language."""
    return _catalogue.gettext(text) if text else ""  # gettext's text for nothing is the catalogue's header


def tr(text: str, /, **values: object) -> str:
    """`text` in the volunteer's language, with `{names}` filled in."""
    translated = _catalogue.gettext(text)
    return translated.format(**values) if values else translated


def trn(singular: str, plural: str, count: int, /, **values: object) -> str:
    """The text for `count` things; the caller formats the number itself if it is shown."""
    translated = _catalogue.ngettext(singular, plural, count)
    return translated.format(**values) if values else translated
