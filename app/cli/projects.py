"""projects: what one can contribute to, and the memberships."""

import argparse
import getpass
import sys
import time
from types import NoneType
from typing import Any

import msgspec

from app.cli.console import layout, output, source
from app.cli.console.connection import ask, borrowed
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_json, add_part, add_parts, add_verb
from app.text import messages, projects
from app.text.i18n import N_, tr, translate
from core.api.errors import UsageError
from core.api.project import projects as api
from core.api.protocol import Command, GetSnapshot
from core.api.snapshot import Snapshot
from core.client.profile import Profile

TEXT = help_text("""
The projects you can contribute to.

  idlehive projects
  idlehive projects show practice
  idlehive projects add https://example.org/bees.json     or a file
  idlehive projects join bees
  idlehive projects join bees --invite                    asks for the invite
  idlehive projects join bees --invite - < invite.txt     reads it from a file
  idlehive projects leave bees
  idlehive projects remove bees                           off the list
  idlehive projects order bees practice                   bees first, when it can run

Idlehive contributes to the first of your projects that can run now.

Other programs can see an invite given as `--invite TOKEN` while the command
runs; with `--invite` alone or `--invite -` it stays hidden.
""")

_READ = "-"
_FETCHING = 120.0


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "projects", N_("list, show, add, join or leave projects"), TEXT, run_list)
    add_json(parser)
    parts = add_parts(parser, "list", "show", "add", "join", "leave", "remove", "order")
    add_part(parts, "list", N_("the projects you can contribute to"), TEXT, run_list)
    show = add_part(parts, "show", N_("everything about one, and whether this computer fits"), TEXT, run_show)
    joining = add_part(parts, "join", N_("become a member"), TEXT, run_join)
    leave = add_part(parts, "leave", N_("end your membership; your history stays"), TEXT, run_leave)
    remove = add_part(parts, "remove", N_("take one that is not joined off the list"), TEXT, run_remove)
    for part in (show, joining, leave, remove):
        part.add_argument("project", metavar="ID")
    joining.add_argument(
        "--invite", nargs="?", const=_READ, metavar="TOKEN", help=N_("default or -: ask, or read standard input")
    )
    adding = add_part(parts, "add", N_("put a project into the list"), TEXT, run_add)
    adding.add_argument("source", metavar="URL_OR_FILE", help=N_("of its manifest"))
    order = add_part(parts, "order", N_("prefer joined projects in this order; the others follow"), TEXT, run_order)
    order.add_argument("projects", metavar="ID", nargs="+")


def run_list(arguments: argparse.Namespace, profile: Profile) -> int:
    with borrowed(profile) as engine:
        projects = engine.request(api.ListProjects(), list[api.ProjectInfo])
        snapshot = engine.request(GetSnapshot(), Snapshot)
    if arguments.json:
        output.print_json([info_json(info) for info in projects])
    elif projects:
        rows = [_row(project, snapshot) for project in projects]
        columns = ("id", N_("name"), N_("organiser"), N_("you"))
        output.print_table(columns, rows, by_use=("you", "organiser"))
    else:
        output.say(tr("No projects yet: `idlehive projects add URL_OR_FILE` adds one."))
    return 0


def run_order(arguments: argparse.Namespace, profile: Profile) -> int:
    projects = ask(profile, api.OrderProjects(tuple(arguments.projects)), list[api.ProjectInfo])
    members = sorted((project for project in projects if project.rank), key=lambda project: project.rank)
    order = ", ".join(output.printable(project.id) for project in members)
    sentence = tr("The order is now: {projects}.", projects=order)
    return output.answer(arguments, [info_json(info) for info in projects], sentence)


def run_show(arguments: argparse.Namespace, profile: Profile) -> int:
    command = api.ShowProject(source.resolve(arguments.project, profile))
    with borrowed(profile) as engine:
        details = engine.request(command, api.ProjectDetails)
        snapshot = engine.request(GetSnapshot(), Snapshot)
    return output.answer(arguments, details_json(details), "\n".join(describe(details, snapshot)))


def run_add(arguments: argparse.Namespace, profile: Profile) -> int:
    command = api.AddProject(source.resolve(arguments.source, profile))
    return _change(arguments, profile, command, N_("{project} is now in the list."))


def run_join(arguments: argparse.Namespace, profile: Profile) -> int:
    invite = read_invite() if arguments.invite == _READ else arguments.invite
    command = api.JoinProject(source.resolve(arguments.project, profile), invite)
    return _change(arguments, profile, command, N_("You are now a member of {project}."))


def run_leave(arguments: argparse.Namespace, profile: Profile) -> int:
    command = api.LeaveProject(source.resolve(arguments.project, profile))
    return _change(arguments, profile, command, N_("You have left {project}; what you gave stays in your history."))


def run_remove(arguments: argparse.Namespace, profile: Profile) -> int:
    which = source.resolve(arguments.project, profile)
    ask(profile, api.RemoveProject(which), NoneType)
    sentence = tr("{project} is no longer in the list; your history stays.", project=output.printable(which))
    return output.answer(arguments, None, sentence)


def read_invite() -> str:
    """The invite from a prompt that does not show it, or from a pipe.

    Raises:
        UsageError: there was nothing to read.
    """
    try:
        text = getpass.getpass(tr("Invite:") + " ") if sys.stdin.isatty() else sys.stdin.readline()
    except EOFError:
        text = ""
    if not text.strip():
        raise UsageError("invite_missing")
    return text.strip()


def info_json(info: api.ProjectInfo) -> dict[str, Any]:
    """Its warning in words."""
    plain: dict[str, Any] = msgspec.to_builtins(info)
    return plain | {"warning": messages.sentence(info.warning) if info.warning else None}


def details_json(details: api.ProjectDetails) -> dict[str, Any]:
    """What this computer lacks in words."""
    plain: dict[str, Any] = msgspec.to_builtins(details)
    lacks = [messages.sentence(lack) for lack in details.missing]
    return plain | {"info": info_json(details.info), "missing": lacks}


def describe(details: api.ProjectDetails, snapshot: Snapshot | None = None) -> list[str]:
    """All about a project, in lines for a person."""
    info = details.info
    facts = [
        *projects.rows(details),
        (tr("This computer"), projects.verdict(details.missing)),
        (tr("Homepage"), details.homepage or ""),
        (tr("You"), _you(info, snapshot)),
        ("", projects.waits(info, time.time())),
        ("", projects.given(details)),
    ]
    summary = output.wrapped(output.printable(info.summary), 2)
    lines = layout.aligned(((f"  {name}", output.printable(value)) for name, value in facts if value), column=17)
    return [output.printable(f"{info.name} ({info.id}) {projects.by_line(info)}"), *summary, "", *lines]


def _change(arguments: argparse.Namespace, profile: Profile, command: Command, sentence: str) -> int:
    info = ask(profile, command, api.ProjectInfo, _FETCHING)
    output.answer(
        arguments, info_json(info), translate(sentence).format(project=f"{output.printable(info.name)} ({info.id})")
    )
    if info.warning:
        warning = output.printable(messages.sentence(info.warning))
        output.say(tr("Warning: {text}", text=warning), sys.stderr)
    return 0


def _row(project: api.ProjectInfo, snapshot: Snapshot) -> tuple[str, ...]:
    return tuple(
        output.printable(text) for text in (project.id, project.name, project.organiser, _you(project, snapshot))
    )


def _you(project: api.ProjectInfo, snapshot: Snapshot | None) -> str:
    return ", ".join(text for text, _ in projects.badges(project, int(project.joined), snapshot))
