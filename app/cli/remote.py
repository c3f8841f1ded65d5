"""remote: other machines whose engines this computer reaches over SSH."""

import argparse
import time
from concurrent.futures import ThreadPoolExecutor

import msgspec

from app.cli.console import output
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_json, add_part, add_parts, add_verb
from app.text import status
from app.text.formats.sentences import closed
from app.text.i18n import N_, tr
from app.text.messages import sentence
from core.api.errors import EngineGone, WorldError
from core.api.machines import Machine
from core.api.protocol import GetSnapshot
from core.api.snapshot import Snapshot
from core.client.engine_client import EngineClient
from core.client.machines import Machines
from core.client.profile import Profile

TEXT = help_text("""
Your other machines: watched, paused and limited from here. The connection is
OpenSSH's, with its keys and known hosts; no port is opened on either side.

  idlehive remote add lab ssh://ann@lab.example.org
  idlehive remote add nas ssh://nas:2222/~/idlehive/idlehive   if not in PATH
  idlehive remote                            list them, and what they do
  idlehive remote rename lab workshop
  idlehive remote remove workshop            nothing changes over there
  idlehive --machine lab status              and most other verbs
  idlehive history collect                   their history into this one's

`ssh HOST` must work without a question: a key that needs no typing, and a host
that you have connected to before.
""")

_COLUMNS = (N_("machine"), N_("address"), N_("version"), N_("now"))
_BY_USE = ("now", "address", "version")
_AT_ONCE = 8


class Found(msgspec.Struct, frozen=True):
    """A machine as `remote list --json` prints it."""

    name: str
    address: str
    state: str | None
    """None: it does not answer, or no engine runs there; `text` says which."""
    version: str
    text: str


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "remote", N_("your other machines, over SSH"), TEXT, run_list)
    add_json(parser)
    parts = add_parts(parser, "list", "add", "rename", "remove")
    add_part(parts, "list", N_("the machines, and what they do"), TEXT, run_list)
    adding = add_part(parts, "add", N_("add a machine"), TEXT, run_add)
    adding.add_argument("name", metavar="NAME", help=N_("by which you call it"))
    adding.add_argument("address", metavar="ADDRESS", help=N_("ssh://[USER@]HOST[:PORT][/PATH of idlehive there]"))
    renaming = add_part(parts, "rename", N_("call it by another name"), TEXT, run_rename)
    renaming.add_argument("name", metavar="NAME")
    renaming.add_argument("new", metavar="NEW")
    removing = add_part(parts, "remove", N_("take it off the list"), TEXT, run_remove)
    removing.add_argument("name", metavar="NAME")
    dialling = add_part(parts, "dial-stdio", argparse.SUPPRESS, TEXT, run_dial_stdio)
    dialling.add_argument("--start", action="store_true", help=argparse.SUPPRESS)


def run_list(arguments: argparse.Namespace, profile: Profile) -> int:
    machines = Machines(profile).all()
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        found = list(threads.map(lambda machine: _ask(profile, machine), machines))
    if arguments.json:
        output.print_json(found)
    elif not found:
        output.say(output.no_machines())
    else:
        rows = [(each.name, each.address, each.version, output.printable(each.text)) for each in found]
        output.print_table(_COLUMNS, rows, by_use=_BY_USE)
    return 0


def run_add(arguments: argparse.Namespace, profile: Profile) -> int:
    machine = Machines(profile).add(arguments.name, arguments.address)
    found = _ask(profile, machine)
    sentence = tr("{machine} is in the list. {found}", machine=machine.name, found=found.text)
    return output.answer(arguments, found, sentence)


def run_rename(arguments: argparse.Namespace, profile: Profile) -> int:
    machine = Machines(profile).rename(arguments.name, arguments.new)
    sentence = tr("{old} is now called {new}.", old=arguments.name, new=machine.name)
    return output.answer(arguments, machine, sentence)


def run_remove(arguments: argparse.Namespace, profile: Profile) -> int:
    Machines(profile).remove(arguments.name)
    gone = {"removed": arguments.name}
    sentence = tr("{machine} is no longer in the list; what it does goes on.", machine=arguments.name)
    return output.answer(arguments, gone, sentence)


def run_dial_stdio(arguments: argparse.Namespace, profile: Profile) -> int:
    from core.client import dial_stdio

    dial_stdio.join(profile, arguments.start)
    return 0


def _ask(profile: Profile, machine: Machine) -> Found:
    try:
        with EngineClient.connect(profile.at(machine)) as engine:
            snapshot = engine.request(GetSnapshot(), Snapshot, timeout=20.0)
    except (EngineGone, WorldError) as error:
        return Found(machine.name, machine.address, None, "", sentence(error.message))
    text = closed(status.status(snapshot, time.time()))
    return Found(machine.name, machine.address, snapshot.state, snapshot.version, text)
