"""runtime: the libraries that training needs, which a package installs into the profile."""

import argparse
import sys
from types import NoneType

from msgspec.structs import replace

from app.cli.console import output
from app.cli.console.connection import ask, borrowed
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_json, add_part, add_parts, add_verb
from app.text.i18n import N_, tr
from app.text.installation import compute_runtime
from core.api.errors import UsageError, WorldError
from core.api.installation.compute_runtime import ComputeRuntime, InstallRuntime, RemoveRuntime
from core.api.protocol import GetSnapshot
from core.api.snapshot import Snapshot
from core.client.engine_client import EngineClient
from core.client.profile import Profile

TEXT = help_text("""
The libraries that training needs (torch, hivemind and others), for this
computer: with support for its graphics card, or for the processor alone. A
package installs them into the profile; a checkout has its own.

  idlehive runtime                 what is installed
  idlehive runtime install         install them, with progress
  idlehive runtime repair          install them again
  idlehive runtime remove          delete them
  idlehive runtime install --yes   agree that WSL is set up (Windows)

UV_INDEX, UV_DEFAULT_INDEX and UV_FIND_LINKS name other sources of packages,
HTTPS_PROXY a proxy, SSL_CERT_FILE its certificate.
""")

_TICK = 0.5


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "runtime", N_("the libraries that training needs"), TEXT, status)
    add_json(parser)
    parts = add_parts(parser, "status", "install", "repair", "remove")
    add_part(parts, "status", N_("what is installed"), help_text("What is installed."), status)
    installing = add_part(
        parts,
        "install",
        N_("install what is missing"),
        help_text("Install what is missing. Ctrl-C stops; the next run goes on."),
        install,
    )
    repairing = add_part(
        parts,
        "repair",
        N_("install them again"),
        help_text("Install them again; what is there is used until then."),
        repair,
    )
    for part in (installing, repairing):
        part.add_argument("--yes", action="store_true", help=N_("agree that WSL is set up (Windows)"))
    add_part(
        parts,
        "remove",
        N_("delete them"),
        help_text("Delete them. Contributing then waits until they are installed again."),
        remove,
    )


def status(arguments: argparse.Namespace, profile: Profile) -> int:
    found = ask(profile, GetSnapshot(), Snapshot).compute
    return output.answer(arguments, found, compute_runtime.describe(found))


def install(arguments: argparse.Namespace, profile: Profile) -> int:
    return _install(arguments, profile, InstallRuntime())


def repair(arguments: argparse.Namespace, profile: Profile) -> int:
    return _install(arguments, profile, InstallRuntime(repair=True))


def remove(arguments: argparse.Namespace, profile: Profile) -> int:
    ask(profile, RemoveRuntime(), NoneType)
    return status(arguments, profile)


def _install(arguments: argparse.Namespace, profile: Profile, command: InstallRuntime) -> int:
    with borrowed(profile) as engine:
        if engine.request(GetSnapshot(), Snapshot).compute.needs_consent:
            if not (arguments.yes or _agrees()):
                raise UsageError("wsl_needs_consent")
            command = replace(command, agreed=True)
        engine.request(command, NoneType)
        try:
            found = _follow(engine)
        except KeyboardInterrupt:
            engine.request(RemoveRuntime(only_stop=True), NoneType)  # an engine of a window goes on
            raise
    return output.answer(arguments, found, compute_runtime.describe(found))


def _agrees() -> bool:
    """Asked on the terminal; without one, only `--yes` agrees."""
    if not sys.stdin.isatty():
        return False
    output.say("\n\n".join([*compute_runtime.consent(), ""]), sys.stderr)
    return output.confirm(tr("Set it up? Type “{word}”:", word=tr("yes")))


def _follow(engine: EngineClient) -> ComputeRuntime:
    """Print the progress until it is installed. Raises WorldError: it failed."""
    shown = ""
    for message in engine.messages(_TICK):
        if not isinstance(message, Snapshot):
            continue
        found = message.compute
        if found.step is None:
            if shown and sys.stderr.isatty():
                print(file=sys.stderr)
            if found.failure:
                raise WorldError(found.failure)
            return found
        if (text := compute_runtime.progress(found)) != shown:
            shown = text
            _print_progress(text)
    raise AssertionError("the messages end by an error")


def _print_progress(text: str) -> None:
    print(
        f"\r\033[K{text}" if sys.stderr.isatty() else text,
        end="" if sys.stderr.isatty() else "\n",
        file=sys.stderr,
        flush=True,
    )
