"""`python -m app.cli.installation.reference man|bash|zsh|fish`: manual page and completions, from the help of verbs."""

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from app.cli.main import EPILOGUE, TEXT, command_line


@dataclass(frozen=True)
class Word:
    """A verb or an option that may follow, with its help."""

    name: str
    help: str


@dataclass(frozen=True)
class Command:
    """A verb, or a part of one: the words that lead to it, its parser, and what may follow."""

    path: tuple[str, ...]
    parser: argparse.ArgumentParser
    verbs: tuple[Word, ...]
    options: tuple[Word, ...]


def commands() -> list[Command]:
    """All commands, each before its parts."""
    return list(_walk((), command_line()))


def _walk(path: tuple[str, ...], parser: argparse.ArgumentParser) -> Iterator[Command]:
    verbs: list[Word] = []
    options: list[Word] = []
    parts: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            parts |= action.choices
            verbs += [Word(choice.dest, choice.help or "") for choice in action._choices_actions]
        elif action.help != argparse.SUPPRESS:
            options += [Word(name, action.help or "") for name in action.option_strings]
    yield Command(path, parser, tuple(verbs), tuple(options))
    for name, part in parts.items():
        yield from _walk((*path, name), part)


def man() -> str:
    """The manual page, section 1."""
    verbs = [_section(command) for command in commands() if command.path]
    return "\n".join((
        '.TH IDLEHIVE 1 "" "Idlehive" "User Commands"',
        ".SH NAME", "idlehive \\- give this computer's idle time to open deep-learning collaborations",
        ".SH SYNOPSIS", ".B idlehive", "[VERB] [OPTION ...]",
        ".SH DESCRIPTION", _verbatim(TEXT),
        ".SH VERBS", *verbs,
        ".SH ENVIRONMENT AND EXIT STATUS", _verbatim(EPILOGUE),
        "",
    ))  # fmt: skip


def _section(command: Command) -> str:
    return f".SS {_roff(' '.join(command.path))}\n{_verbatim(command.parser.format_help())}"


def _verbatim(text: str) -> str:
    return f".nf\n{_roff(text.strip())}\n.fi"


def _roff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    return re.sub(r"^\.", r"\\&.", escaped, flags=re.MULTILINE)


def bash() -> str:
    """Completion for bash."""
    paths = " | ".join(f'"{" ".join(command.path)}"' for command in commands() if command.path)
    words = "\n".join(f'        "{" ".join(command.path)}") words="{_names(command)}" ;;' for command in commands())
    return f"""_idlehive() {{
    local path="" word words=""
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "${{path:+$path }}$word" in
        {paths}) path="${{path:+$path }}$word" ;;
        esac
    done
    case "$path" in
{words}
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}")
}}
complete -o default -F _idlehive idlehive
"""


def zsh() -> str:
    """Completion for zsh."""
    paths = "|".join(_quoted(" ".join(command.path)) for command in commands() if command.path)
    cases = "\n".join(
        f"    {_quoted(' '.join(command.path))}) choices=({' '.join(map(_described, _words(command)))}) ;;"
        for command in commands()
    )
    return f"""#compdef idlehive
local at="" word
local -a choices
for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "${{at:+$at }}$word" in
    {paths}) at="${{at:+$at }}$word" ;;
    esac
done
case "$at" in
{cases}
esac
_describe 'idlehive' choices || _files
"""


def fish() -> str:
    """Completion for fish."""
    paths = " ".join(_quoted(" ".join(command.path)) for command in commands() if command.path)
    lines = "".join(_fish_line(command, word) for command in commands() for word in _words(command))
    return f"""function __idlehive_at
    set -l at
    for word in (commandline -opc)[2..-1]
        set -l next (string join ' ' $at $word)
        switch "$next"
            case {paths}
                set at $next
        end
    end
    test "$at" = "$argv"
end
{lines}"""


def _fish_line(command: Command, word: Word) -> str:
    condition = " ".join(("__idlehive_at", *command.path))
    form, described = _fish_form(word.name), _quoted(_short(word.help))
    return f"complete -c idlehive -n {_quoted(condition)} {form} -d {described}\n"


def _fish_form(name: str) -> str:
    if name.startswith("--"):
        return f"-l {name[2:]}"
    return f"-s {name[1:]}" if name.startswith("-") else f"-f -a {name}"


def _words(command: Command) -> tuple[Word, ...]:
    return (*command.verbs, *command.options)


def _names(command: Command) -> str:
    return " ".join(word.name for word in _words(command))


def _described(word: Word) -> str:
    text = _short(word.help).replace(":", "\\:")
    return _quoted(f"{word.name}:{text}")


def _short(text: str) -> str:
    return " ".join(text.replace("%%", "%").split())


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


FORMATS = {"man": man, "bash": bash, "zsh": zsh, "fish": fish}

if __name__ == "__main__":
    sys.stdout.write(FORMATS[sys.argv[1]]())
