"""argparse with one line for wrong use and preformatted help."""

import argparse
import difflib
import re
from collections.abc import Callable
from typing import NoReturn, TypeAlias

from core.api.errors import UsageError
from core.client.profile import Profile

Verb = Callable[[argparse.Namespace, Profile], int]
"""What a verb does; the result is the exit code."""


class Parser(argparse.ArgumentParser):
    """Raises `UsageError` where argparse would print its usage and exit."""

    def error(self, message: str) -> NoReturn:
        unknown = re.match(r"argument .*: invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if unknown:
            choices = re.findall(r"[\w-]+", unknown[2])
            near = difflib.get_close_matches(unknown[1], choices, n=1)
            if near:
                raise UsageError("word_misspelt", word=unknown[1], near=near[0])
            raise UsageError("word_unknown", word=unknown[1], known=choices)
        raise UsageError("arguments_wrong", detail=f"{message[:1].upper()}{message[1:]}", command=self.prog)


Verbs: TypeAlias = "argparse._SubParsersAction[Parser]"
Container: TypeAlias = "argparse.ArgumentParser | argparse._MutuallyExclusiveGroup"


class Layout(argparse.RawDescriptionHelpFormatter):
    """Keeps the help text as it is written, with the summary of a verb beside its name."""

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):
            self._action_max_length += 2  # argparse forgets that verbs are indented


def add_verb(verbs: Verbs, name: str, summary: str, text: str, run: Verb | None = None) -> Parser:
    """A verb with the text of its `--help`: what it does, then examples."""
    parser = verbs.add_parser(name, help=summary, description=text.strip(), formatter_class=Layout, allow_abbrev=False)
    if run:
        parser.set_defaults(run=run)
    return parser


def add_part(parts: Verbs, name: str, summary: str, text: str, run: Verb) -> Parser:
    """A part of a verb that has `--json`: it may be given after both, and leaving it out here does not undo it."""
    parser = add_verb(parts, name, summary, text, run)
    add_json(parser, argparse.SUPPRESS)
    return parser


def add_json(parser: Container, default: object = False) -> None:
    parser.add_argument("--json", action="store_true", default=default, help="print JSON, for scripts")
