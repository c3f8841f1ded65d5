"""argparse with one line for wrong use, and help in the volunteer's language."""

import argparse
from collections.abc import Callable
from typing import NoReturn, TypeAlias

from app.cli.console import layout
from app.cli.console.help_texts import laid_out
from app.text.i18n import N_, translate
from core.api.errors import UsageError
from core.client.profile import Profile

Verb = Callable[[argparse.Namespace, Profile], int]
"""What a verb does; the result is the exit code."""

_ARGPARSE = (
    N_("usage: "), N_("options"), N_("positional arguments"), N_("show this help message and exit"),
    N_("argument %(argument_name)s: %(message)s"), N_("expected one argument"), N_("expected at least one argument"),
    N_("invalid %(type)s value: %(value)r"), N_("ignored explicit argument %r"), N_("unrecognized arguments: %s"),
    N_("not allowed with argument %s"), N_("one of the arguments %s is required"),
    N_("the following arguments are required: %s"),
)  # fmt: skip
"""What argparse itself may say here, for the catalogue."""
# It looks its texts up by this name, gettext's; that one would ask the environment for the language, not the profile.
argparse._ = translate  # type: ignore[attr-defined]


class Parser(argparse.ArgumentParser):
    """Raises `UsageError` where argparse would print its usage and exit."""

    def error(self, message: str) -> NoReturn:
        raise UsageError("arguments_wrong", detail=f"{message[:1].upper()}{message[1:]}", command=self.prog)

    def _check_value(self, action: argparse.Action, value: str) -> None:
        if action.choices is not None and value not in action.choices:
            import difflib  # for this sentence alone

            if near := difflib.get_close_matches(value, action.choices, n=1):
                raise UsageError("word_misspelt", word=value, near=near[0])
            raise UsageError("word_unknown", word=value, known=list(action.choices))


Verbs: TypeAlias = "argparse._SubParsersAction[Parser]"
Container: TypeAlias = "argparse.ArgumentParser | argparse._MutuallyExclusiveGroup"


class Layout(argparse.RawDescriptionHelpFormatter):
    """Translates what it shows, and puts the summary of a verb beside its name."""

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):
            self._action_max_length += 2  # argparse forgets that verbs are indented

    def start_section(self, heading: str | None) -> None:
        super().start_section(translate(heading) if heading else None)

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return translate(action.help) if action.help else None

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return super()._fill_text(laid_out(text), width, indent)

    def _split_lines(self, text: str, width: int) -> list[str]:
        """argparse counts letters; Chinese ones take two places."""
        return super()._split_lines(text, width) if text.isascii() else layout.wrapped(text, width)


def add_verb(verbs: Verbs, name: str, summary: str, text: str, run: Verb | None = None) -> Parser:
    """A verb with the text of its `--help`: what it does, then examples."""
    parser = verbs.add_parser(name, help=summary, description=text, formatter_class=Layout, allow_abbrev=False)
    if run:
        parser.set_defaults(run=run)
    return parser


def add_parts(parser: Parser, *names: str) -> Verbs:
    """What a verb can do, a word each."""
    return parser.add_subparsers(metavar="|".join(names), title=N_("what to do"), parser_class=Parser)


def add_part(parts: Verbs, name: str, summary: str, text: str, run: Verb) -> Parser:
    """A part of a verb that has `--json`: it may be given after both, and leaving it out here does not undo it."""
    parser = add_verb(parts, name, summary, text, run)
    add_json(parser, argparse.SUPPRESS)
    return parser


def add_json(parser: Container, default: object = False) -> None:
    parser.add_argument("--json", action="store_true", default=default, help=N_("print JSON, for scripts"))
