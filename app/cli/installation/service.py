"""service: contributing without a screen, from the start of the machine."""

import argparse

from app.cli.console import output
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_parts, add_verb
from app.desktop import service
from app.text.i18n import N_, tr
from core.client.profile import Profile

TEXT = help_text("""
A systemd user service that contributes by your schedule, for machines without
a screen.

  idlehive service install         start it now and at each start
  idlehive service                 whether it runs
  idlehive service remove          stop it and delete it

A user service runs while you are logged in. `loginctl enable-linger` lets it
run from the start of the machine.
""")


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "service", N_("contribute without a screen, as a systemd service"), TEXT, status)
    parts = add_parts(parser, "install", "remove", "status")
    add_verb(
        parts, "install", N_("start it now and at each start"), help_text("Start it now and at each start."), install
    )
    add_verb(parts, "remove", N_("stop it and delete it"), help_text("Stop it and delete it."), remove)
    add_verb(parts, "status", N_("whether it runs"), help_text("Whether it runs."), status)


def install(_: argparse.Namespace, profile: Profile) -> int:
    service.install(profile)
    output.say(tr("{path} is installed and started.", path=service.path(profile)))
    return 0


def remove(_: argparse.Namespace, profile: Profile) -> int:
    removed = service.remove(profile)
    output.say(tr("{path} is removed.", path=service.path(profile)) if removed else tr("The service is not installed."))
    return 0


def status(_: argparse.Namespace, profile: Profile) -> int:
    found = service.state(profile)
    output.say(tr("The service is {state}.", state=found) if found else tr("The service is not installed."))
    return 0
