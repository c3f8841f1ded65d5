"""Which language the command line speaks: the one chosen in the window, else that of the environment.

What programs read is English: JSON, CSV, and everything under `LANG=C`.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from app.text import i18n
from app.text.formats import region

_FOR_PROGRAMS = {"--json", "--csv"}
_CHOSEN = re.compile(r"^language=(\w+)$", re.MULTILINE)
_OTHER_SCRIPT = {"zh_TW", "zh_HK", "zh_MO"}
"""Traditional Chinese: who reads it gets the next language on the list."""


def choose(arguments: Sequence[str], profile: Path, environment: Mapping[str, str]) -> str:
    """A code of `i18n.languages`."""
    if _FOR_PROGRAMS & set(arguments):
        return "en"
    return _of_the_window(profile) or negotiate(environment)


def use(code: str) -> None:
    """Speak this language in this process from now on; its numbers and dates need no more than a terminal has."""
    if code == "en":
        return
    i18n.use(code)
    written = (i18n.LOCALE / code / "region.json").read_bytes()
    region.use(msgspec.json.decode(written, type=region.Region))


def negotiate(environment: Mapping[str, str]) -> str:
    """The first of the person's languages that has a translation, by gettext's rules.

    LANGUAGE is a list, and counts only where LC_ALL, LC_MESSAGES or LANG names a language. A variant in the same script
    will do, as in the window.
    """
    names = (environment.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    locale = next(filter(None, names), "C")
    if _plain(locale) in ("C", "POSIX"):
        return "en"
    wanted = (environment.get("LANGUAGE") or locale).split(":")
    codes = {code.partition("_")[0]: code for code in i18n.languages()}
    speakable = (codes.get(name.partition("_")[0]) for name in map(_plain, wanted) if name not in _OTHER_SCRIPT)
    return next(filter(None, speakable), "en")


def _plain(locale: str) -> str:
    """Without codeset and modifier: de_AT of de_AT.UTF-8@euro."""
    return re.split(r"[.@]", locale)[0]


def _of_the_window(profile: Path) -> str | None:
    """What was chosen in its settings (`app.desktop.window_settings`); None: as the system."""
    try:
        found = _CHOSEN.search((profile / "window.ini").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    return found[1] if found and found[1] in i18n.languages() else None
