"""The one door for every text a person reads: in English in the code, in other languages in `resources/locale`.

Sentences are looked up whole and filled in afterwards: word order belongs to the language. A catalogue is gettext's, so
the plural forms are each language's own. Without `use` everything stays English, as on the command line.
"""

import gettext
import json
import re
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path

from app.text import region

LOCALE = Path(__file__).resolve().parents[2] / "resources" / "locale"
DOMAIN = "idlehive"
ENGINE = LOCALE / "engine.json"
"""What the engine can say, with fields, found in its code by `python -m tests.translations`; most specific first."""

_catalogue: gettext.NullTranslations = gettext.NullTranslations()


def languages() -> dict[str, str]:
    """What the window can speak: each language's code, and its name in that language."""
    return {"en": "English", "de": "Deutsch"}


def use(code: str) -> None:
    """Use a language of `languages` from now on. Texts that are already shown stay as they are."""
    global _catalogue
    _catalogue = gettext.translation(DOMAIN, LOCALE, [code], fallback=code == "en")


def tr(text: str, /, **values: object) -> str:
    """`text` in the volunteer's language, with `{names}` filled in."""
    translated = _catalogue.gettext(text)
    return translated.format(**values) if values else translated


def trn(singular: str, plural: str, count: int, /, **values: object) -> str:
    """The text for `count` things; the caller formats the number itself if it is shown."""
    translated = _catalogue.ngettext(singular, plural, count)
    return translated.format(**values) if values else translated


def said(sentence: str) -> str:
    """A sentence of the engine, which speaks English, in the volunteer's language; as it is if nobody knows it."""
    return _FRACTION.sub(rf"\1{region.current().decimal_mark}\2", _translated(sentence))


_FRACTION = re.compile(r"(?<![\w.])(\d+)\.(\d+)(?=\s(?:[KMGT]i?B|[kMG]?bit/s|W|%)(?!\w))")
"""An amount by its unit: numbers of versions and addresses have none."""


def _translated(sentence: str) -> str:
    if type(_catalogue) is gettext.NullTranslations:
        return sentence
    for pattern, template in _patterns():
        if found := pattern.fullmatch(sentence):
            return tr(template, **{name: _translated(value) for name, value in found.groupdict().items()})
    return sentence


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((_pattern(template), template) for template in json.loads(ENGINE.read_text(encoding="utf-8")))


def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", template)
    # A number is no more than that: "{n0} % busy" must not take the rest of a list for one.
    fields = (rf"(?P<{part}>-?\d[\d.e+]*)" if part[0] == "n" else f"(?P<{part}>.+?)" for part in parts[1::2])
    plain = map(re.escape, parts[::2])
    return re.compile("".join(chain.from_iterable(zip_longest(plain, fields, fillvalue=""))), re.DOTALL)
