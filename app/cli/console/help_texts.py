"""Help texts: written as they look in English, translated by paragraphs and remarks, laid out again for the terminal.

A block of indented lines is a list of examples, each a command and, after two spaces, a remark. Other blocks are prose;
of one that begins with a label (`Names: …`) only the label is translated.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from app.cli.console import output
from app.text.i18n import translate

_BETWEEN_BLOCKS = re.compile(r"\n\s*\n|\n(?=[A-Z][a-z]+: )")
_LABEL = re.compile(r"([A-Z][a-z]+:) ")
_CONTINUED = re.compile(r"\n {8,}")
_INDENT = 2


class Example(NamedTuple):
    command: str
    remark: str


def help_text(text: str) -> str:
    """Marks a help text for the catalogue; `laid_out` translates it."""
    return text.strip("\n")


def parts(text: str) -> Iterator[str]:
    """What is to be translated of a help text."""
    for block in _BETWEEN_BLOCKS.split(text.strip("\n")):
        if block.startswith(" "):
            yield from (example.remark for example in _examples(block) if example.remark)
        else:
            yield _label(block) or _prose(block)


def laid_out(text: str) -> str:
    """The text in the language in use; one without a translation stays as it is written, where there is room."""
    if output.columns() >= output.READABLE and all(translate(part) == part for part in parts(text)):
        return text
    return "\n\n".join("\n".join(_lines(block)) for block in _BETWEEN_BLOCKS.split(text))


def _lines(block: str) -> list[str]:
    if block.startswith(" "):
        return list(_listed(_examples(block)))
    label = _label(block)
    return output.wrapped(_prose(block.replace(label, translate(label), 1)) if label else translate(_prose(block)), 0)


def _listed(examples: list[Example]) -> Iterator[str]:
    """Remarks below each other; one that is too long for its line stands below its command."""
    column = max((len(example.command) for example in examples if example.remark), default=0) + 2 * _INDENT
    for command, remark in examples:
        line = f"{'':<{_INDENT}}{command}"
        beside = output.wrapped(translate(remark), column) if remark else [""]
        if len(beside) == 1:
            yield line + beside[0][len(line) :]
        else:
            yield from (line, *output.wrapped(translate(remark), 3 * _INDENT))


def _examples(block: str) -> list[Example]:
    split = (line.strip().partition("  ") for line in _CONTINUED.sub(" ", block).split("\n"))
    return [Example(command, remark.strip()) for command, _, remark in split]


def _label(block: str) -> str:
    found = _LABEL.match(block)
    return found[1] if found else ""


def _prose(block: str) -> str:
    return " ".join(block.split())
