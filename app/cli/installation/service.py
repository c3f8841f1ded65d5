"""service: contributing without a screen, from the start of the machine."""

import argparse

from app.cli.console.parser import Verbs, add_verb
from app.desktop import service
from core.client.profile import Profile

TEXT = """
A systemd user service that contributes by your schedule, for machines without
a screen.

  idlehive service install         start it now and at each start
  idlehive service                 whether it runs
  idlehive service remove          stop it and delete it

A user service runs while you are logged in. `loginctl enable-linger` lets it
run from the start of the machine.
"""


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "service", "contribute without a screen, as a systemd service", TEXT, status)
    parts = parser.add_subparsers(title="what to do", metavar="install|remove|status")
    add_verb(parts, "install", "start it now and at each start", "Start it now and at each start.", install)
    add_verb(parts, "remove", "stop it and delete it", "Stop it and delete it.", remove)
    add_verb(parts, "status", "whether it runs", "Whether it runs.", status)


def install(_: argparse.Namespace, profile: Profile) -> int:
    service.install(profile)
    print(f"{service.path(profile)} is installed and started.")
    return 0


def remove(_: argparse.Namespace, profile: Profile) -> int:
    print(f"{service.path(profile)} is removed." if service.remove(profile) else "The service is not installed.")
    return 0


def status(_: argparse.Namespace, profile: Profile) -> int:
    found = service.state(profile)
    print(f"The service is {found}." if found else "The service is not installed.")
    return 0
