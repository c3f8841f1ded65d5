"""The one door for every text a person reads, so that translations can come later without touching the callers.

Sentences are looked up whole and filled in afterwards: word order belongs to the language.
"""

from collections.abc import Callable

_translate: Callable[[str], str] = str


def translate_with(translate: Callable[[str], str]) -> None:
    """Look texts up with `translate` from now on; it gets the English text and returns what to show."""
    global _translate
    _translate = translate


def languages() -> dict[str, str]:
    """What the window can speak: each language's code, and its name in that language."""
    return {"en": "English"}


def tr(text: str, /, **values: object) -> str:
    """`text` in the volunteer's language, with `{names}` filled in."""
    translated = _translate(text)
    return translated.format(**values) if values else translated


def trn(singular: str, plural: str, count: int, /, **values: object) -> str:
    """The text for `count` things; the caller formats the number itself if it is shown."""
    return tr(singular if count == 1 else plural, **values)
