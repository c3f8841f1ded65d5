"""identity: the key that your contributions are signed with, and the name beside them."""

import argparse
import getpass
import sys
from pathlib import Path

from app.cli.console import layout, output
from app.cli.console.connection import ask, borrowed
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_json, add_part, add_parts, add_verb
from app.cli.console.preferences import choose, chosen
from app.desktop import private_file
from app.text.i18n import N_, tr
from core.api import identity as api
from core.api.errors import UsageError
from core.client.engine_client import EngineClient
from core.client.profile import Profile

TEXT = help_text("""
The key that your contributions are signed with. The same key on several
machines adds up to one volunteer on the projects' pages.

  idlehive identity                         its public part, and your name
  idlehive identity name "Ann of the Hill"  shown beside your figures
  idlehive identity name --none             no name, as at first
  idlehive identity export ann.identity     asks for a passphrase
  idlehive identity import ann.identity     on the other machine
  idlehive limits set publish_contributions 0    publish nothing

The passphrase is asked for, or read from a pipe; never given as an argument.
`import` refuses to take the place of another key without --replace.
""")

_DERIVING = 60.0


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "identity", N_("the key that signs what you give"), TEXT, run_show)
    add_json(parser)
    parts = add_parts(parser, "show", "name", "export", "import")
    add_part(parts, "show", N_("its public part"), TEXT, run_show)
    naming = add_part(parts, "name", N_("choose a name, or none"), TEXT, run_name)
    which = naming.add_mutually_exclusive_group(required=True)
    which.add_argument("name", nargs="?", metavar="NAME")
    which.add_argument("--none", action="store_true", help=N_("show no name"))
    exporting = add_part(parts, "export", N_("write it to a file, under a passphrase"), TEXT, run_export)
    importing = add_part(parts, "import", N_("take it over from a file"), TEXT, run_import)
    for part in (exporting, importing):
        part.add_argument("file", type=Path, metavar="FILE")
    exporting.add_argument("--replace", action="store_true", help=N_("write over a file that is there"))
    importing.add_argument("--replace", action="store_true", help=N_("give up the key that is here"))


def run_show(arguments: argparse.Namespace, profile: Profile) -> int:
    with borrowed(profile) as engine:
        return _print_answer(arguments, engine, api.GetIdentity())


def run_name(arguments: argparse.Namespace, profile: Profile) -> int:
    with borrowed(profile) as engine:
        choose(engine, "display_name", "" if arguments.none else arguments.name)
        return _print_answer(arguments, engine, api.GetIdentity())


def run_export(arguments: argparse.Namespace, profile: Profile) -> int:
    if arguments.file.exists() and not arguments.replace:
        raise UsageError("file_exists", path=str(arguments.file))
    command = api.ExportIdentity(_passphrase(twice=True))
    text = ask(profile, command, api.IdentityExport, _DERIVING).text
    private_file.write(arguments.file, text)
    done = tr("Your identity is in {path}; it opens with your passphrase only.", path=arguments.file)
    return output.answer(arguments, {"file": str(arguments.file.absolute())}, done)


def run_import(arguments: argparse.Namespace, profile: Profile) -> int:
    text = private_file.read(arguments.file)
    command = api.ImportIdentity(text, _passphrase(), arguments.replace)
    with borrowed(profile) as engine:
        return _print_answer(arguments, engine, command)


def _print_answer(arguments: argparse.Namespace, engine: EngineClient, command: api.IdentityCommand) -> int:
    info = engine.request(command, api.IdentityInfo, timeout=_DERIVING)
    name = chosen(engine)["display_name"]
    rows = (tr("Identity:"), info.id), (tr("Name:"), output.printable(name) if name else tr("none"))
    lines = layout.aligned(rows, gap=1)
    return output.answer(arguments, {"id": info.id, "display_name": name or None}, "\n".join(lines))


def _passphrase(*, twice: bool = False) -> str:
    """From a prompt that does not show it, or a line of a pipe.

    Raises:
        UsageError: nothing was given, or two different ones.
    """
    if not sys.stdin.isatty():
        text = sys.stdin.readline().rstrip("\n")
    else:
        try:
            text = getpass.getpass(tr("Passphrase:") + " ")
            if twice and text != getpass.getpass(tr("Once more:") + " "):
                raise UsageError("passphrases_differ")
        except EOFError:
            text = ""
    if not text:
        raise UsageError("passphrase_missing")
    return text
