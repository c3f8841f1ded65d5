"""host: an organiser's backbone. `core.host` does the work; this words what it reports."""

import argparse
import signal
import subprocess
import time
from collections.abc import Iterator
from types import FrameType

import msgspec

from app.cli.console import output
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_json, add_verb
from app.cli.console.signals import ENDING
from app.cli.host import status
from app.text.formats import times
from app.text.i18n import N_, tr
from app.text.messages import sentence
from core.api import hosting
from core.api.errors import UsageError, WorldError
from core.api.message import Message
from core.api.session import Fault
from core.client.installation import compute_command, core_environment
from core.client.profile import Profile

TEXT = help_text("""
Run the backbone of a project, as its organiser: first contact, manifest, data,
learning curve and checkpoints.

  idlehive host project.toml
  idlehive host project.toml --listen /ip4/0.0.0.0/tcp/31337 --http 0.0.0.0:8330
  idlehive host status               of a running one: whom it leaves out, and why
""")

_STATUS = "status"

_WRONG_USE = 2


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "host", N_("run the backbone of a project, as its organiser"), TEXT, run)
    parser.add_argument("project", metavar="PROJECT.toml", help=N_("the file that describes the project"))
    helps = {
        "listen": ("MULTIADDR", N_("where peers connect, comma-separated (otherwise this computer alone)")),
        "announce": ("MULTIADDR", N_("the address that peers get, if it is another one")),
        "http": ("HOST:PORT", N_("where the web server listens (otherwise 127.0.0.1:8330)")),
        "state": ("DIR", N_("the folder for checkpoints, identity and learning curve")),
    }
    for name, (metavar, text) in helps.items():
        parser.add_argument(f"--{name}", metavar=metavar, help=text)
    add_json(parser)
    parser.add_argument("--companion", action="store_true", help=N_("add a trainer that works while others do"))


def run(arguments: argparse.Namespace, profile: Profile) -> int:
    """Run `core.host` until it ends. It gets the signals; the exit code is its own.

    Raises:
        UsageError, WorldError: it cannot serve.
    """
    if arguments.project == _STATUS:
        return status.run(arguments)
    process = subprocess.Popen(
        compute_command(profile, "core.host", *_passed_on(arguments)), stdout=subprocess.PIPE, env=core_environment()
    )

    def pass_on(number: int, _frame: FrameType | None) -> None:
        process.send_signal(number)

    for number in ENDING:
        signal.signal(number, pass_on)
    with process:
        try:
            failure = _follow(process)
        except BaseException:
            # Leaving `with` waits for its end, and nobody else would tell it to end.
            process.terminate()
            raise
    code = process.returncode
    if failure is not None:
        raise (UsageError if code == _WRONG_USE else WorldError)(failure)
    return code if code >= 0 else 1


def _passed_on(arguments: argparse.Namespace) -> Iterator[str]:
    for name in ("listen", "announce", "http", "state"):
        if (value := getattr(arguments, name)) is not None:
            yield f"--{name}={value}"
    if arguments.companion:
        yield "--companion"
    yield from ("--", arguments.project)


def _follow(process: "subprocess.Popen[bytes]") -> Message | None:
    """Print what it reports until it ends; the failure that it ends with, if it is one."""
    failure = None
    for line in process.stdout or ():
        try:
            report = hosting.host_decoder.decode(line)
        except msgspec.DecodeError:
            continue  # it was killed in the middle of this line
        match report:
            case Fault(error):
                failure = error
            case hosting.Note(message, at):
                output.say(f"{times.moment(at, time.time())}  {output.printable(sentence(message))}")
            case hosting.Serving(url):
                join = tr("Volunteers join with: {command}", command=f"idlehive contribute {url}")
                output.say(f"{tr('Serving {url}', url=url)}\n{join}")
    return failure
