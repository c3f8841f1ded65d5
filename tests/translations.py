"""Brings the translations up to date with the texts of the app: `python -m tests.translations [CODE…]`.

New and changed texts are left empty in `resources/locale/*/LC_MESSAGES/idlehive.po`, to be filled in by hand (with any
editor for such files); run again, it compiles them, and lists what is left to do. It also writes how the command line
writes numbers and dates in the language: `region.json`, which needs no Qt. docs/translating.md has more. The
tests compare with what is found here.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from msgspec.structs import replace
from PySide6.QtCore import QLocale

from app.cli.console.help_texts import parts
from app.desktop.language import region_of
from app.text.formats.region import Region
from app.text.i18n import DOMAIN, LOCALE, languages

ROOT = Path(__file__).parents[1]
TRANSLATED = tuple(code for code in languages() if code != "en")
_FOR_TABLES = {"N_", "help_text"}
_MARKS = {"tr", "trn", *_FOR_TABLES}


class Text(NamedTuple):
    """One call of `tr`, `trn` or `N_`, or a part of a help text; `message` is one text, or singular and plural."""

    message: str | tuple[str, str]
    file: str
    line: int


class NotALiteral(Exception):
    """A text that is put together when the program runs cannot be looked up."""


def texts() -> Iterator[Text]:
    """Every text of the app.

    Raises:
        NotALiteral: a call without a plain text, or outside a function, where the language is not known yet.
    """
    for file in sorted((ROOT / "app").rglob("*.py")):
        name, tree = str(file.relative_to(ROOT)), ast.parse(file.read_text())
        late = {id(node) for function in ast.walk(tree) if _is_function(function) for node in ast.walk(function)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MARKS:
                wanted = node.args[: 2 if node.func.id == "trn" else 1]
                found = [str(each.value) for each in wanted if isinstance(each, ast.Constant)]
                if len(found) != len(wanted) or (id(node) not in late and node.func.id not in _FOR_TABLES):
                    raise NotALiteral(f"{name}:{node.lineno}")
                messages = parts(found[0]) if node.func.id == "help_text" else [_message(found)]
                yield from (Text(message, name, node.lineno) for message in messages)


def _message(found: list[str]) -> str | tuple[str, str]:
    return found[0] if len(found) == 1 else (found[0], found[1])


def catalogue(code: str) -> Catalog:
    """The translation as it is written by hand."""
    with _file(code, "po").open("rb") as file:
        return read_po(file, locale=code, domain=DOMAIN, abort_invalid=True)


def update(code: str) -> Catalog:
    """Put in what is new, take out what is gone, compile; a language without a folder gets one."""
    known = catalogue(code) if _file(code, "po").exists() else Catalog(locale=code, domain=DOMAIN)
    template = Catalog(domain=DOMAIN, creation_date=known.creation_date)
    for text in texts():
        template.add(text.message, locations=[(text.file, text.line)])
    known.update(template, no_fuzzy_matching=True)
    known.obsolete.clear()
    known.fuzzy = False
    known.header_comment = "# What Idlehive says. `python -m tests.translations` brings it up to date and compiles it."
    known.project, known.version = "Idlehive", ""
    known.last_translator, known.language_team = "", ""
    _file(code, "po").parent.mkdir(parents=True, exist_ok=True)
    with _file(code, "po").open("wb") as file:
        write_po(file, known, width=120, sort_output=True, no_location=True, omit_header=False)
    with _file(code, "mo").open("wb") as file:
        write_mo(file, known)
    (LOCALE / code / "region.json").write_bytes(msgspec.json.format(msgspec.json.encode(region(code))) + b"\n")
    return known


def region(code: str) -> Region:
    """How the language writes in its own country (CLDR, by Qt), with spaces that any terminal has."""
    own = region_of(QLocale(code))
    return replace(own, group=" ", space=" ", before_percent=" " if own.before_percent else "")


def unfinished(known: Catalog) -> list[str]:
    """What is not translated, or is marked to be looked at again (fuzzy), a line each."""
    texts_of = [message for message in known if message.id]
    empty = [f"to translate: {forms(message.id)[0]}" for message in texts_of if not all(forms(message.string))]
    return empty + [f"to check: {forms(message.id)[0]}" for message in texts_of if message.fuzzy]


def forms(string: object) -> tuple[str, ...]:
    """The text, or its plural forms; empty where there is none yet."""
    return tuple(string) if isinstance(string, tuple | list) else (str(string or ""),)


def _file(code: str, kind: str) -> Path:
    return LOCALE / code / "LC_MESSAGES" / f"{DOMAIN}.{kind}"


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.Lambda | ast.AsyncFunctionDef)


if __name__ == "__main__":
    left = {code: unfinished(update(code)) for code in sys.argv[1:] or TRANSLATED}
    for code, lines in left.items():
        print(f"{code}: {len(lines)} texts to do", *lines, sep="\n  ")
    sys.exit(1 if any(left.values()) else 0)
