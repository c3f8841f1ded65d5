"""update: new versions of Idlehive, from the publisher that the package names."""

import argparse
import sys
from contextlib import suppress
from types import NoneType

from msgspec.structs import replace

from app.cli.console import output
from app.cli.console.connection import ask, borrowed
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_json, add_part, add_parts, add_verb
from app.text.i18n import N_, tr
from app.text.installation import release as words
from core.api.errors import EngineGone, WorldError
from core.api.installation.release import CheckRelease, InstallRelease, ReleaseStatus
from core.api.preferences.commands import PreferenceInfo, SetPreference
from core.api.protocol import GetSnapshot, Quit
from core.api.snapshot import Snapshot
from core.client.engine_client import EngineClient
from core.client.profile import Profile

TEXT = help_text("""
New versions of Idlehive. Packages look for them once a day, at the address
that their publisher has named; only what the publisher has signed is used.

  idlehive update                  what is known
  idlehive update check            look now
  idlehive update install          replace a portable build and start it again;
                                   or download the Debian package and show the
                                   command that installs it
  idlehive update off              do not look by itself
  idlehive update on

`idlehive limits set release_address URL` names another copy of the release
file.
""")

_TICK = 0.5


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "update", N_("new versions of Idlehive"), TEXT, status)
    add_json(parser)
    parts = add_parts(parser, "status", "check", "install", "on", "off")
    add_part(parts, "status", N_("what is known"), help_text("What is known of new versions."), status)
    add_part(parts, "check", N_("look now"), help_text("Look for a new version now."), check)
    add_part(
        parts, "install", N_("install the new version"), help_text("Install the new version, if there is one."), install
    )
    add_part(parts, "on", N_("look once a day"), help_text("Look for new versions once a day."), switch_on)
    add_part(
        parts, "off", N_("do not look by itself"), help_text("Look for new versions only when you ask."), switch_off
    )


def status(arguments: argparse.Namespace, profile: Profile) -> int:
    return _answer(arguments, ask(profile, GetSnapshot(), Snapshot).release)


def check(arguments: argparse.Namespace, profile: Profile) -> int:
    with borrowed(profile) as engine:
        return _answer(arguments, _follow(engine, CheckRelease()))


def install(arguments: argparse.Namespace, profile: Profile) -> int:
    client, started = EngineClient.open(profile)
    try:
        with client as engine:
            found = _follow(engine, CheckRelease())
            if found.offer is not None:
                found = _follow(engine, InstallRelease())
    finally:
        if started:
            client, _ = EngineClient.open(profile)  # a replaced build's engine starts again
            with client as engine, suppress(EngineGone):
                engine.request(Quit(), NoneType)
    return _answer(arguments, found)


def switch_on(arguments: argparse.Namespace, profile: Profile) -> int:
    return _switch(arguments, profile, on=True)


def switch_off(arguments: argparse.Namespace, profile: Profile) -> int:
    return _switch(arguments, profile, on=False)


def _switch(arguments: argparse.Namespace, profile: Profile, *, on: bool) -> int:
    ask(profile, SetPreference("check_releases", on), PreferenceInfo)
    daily, asked = (
        tr("Idlehive looks for new versions once a day."),
        tr("Idlehive looks for new versions only when you ask."),
    )
    return output.answer(arguments, {"check_releases": on}, daily if on else asked)


def _answer(arguments: argparse.Namespace, found: ReleaseStatus) -> int:
    lines = [words.describe(found), words.command(found)]
    if found.offer and not found.file and not found.installed:
        lines.append(f"\n{found.offer.changelog.strip()}\n\nidlehive update install")
    return output.answer(arguments, found, "\n".join(filter(None, lines)))


def _follow(engine: EngineClient, command: CheckRelease | InstallRelease) -> ReleaseStatus:
    """Print the progress to the end. Raises WorldError: it failed."""
    before = engine.request(GetSnapshot(), Snapshot).release.checked_at
    engine.request(command, NoneType)
    found, shown = ReleaseStatus(), ""
    try:
        for message in engine.messages(_TICK):
            if not isinstance(message, Snapshot) or message.release.checked_at == before:
                continue
            found = message.release
            if found.step is None:
                break
            if found.step != "checking" and (text := words.progress(found)) != shown:
                shown = text
                output.say(text, sys.stderr)
    except EngineGone:
        if found.step != "installing":
            raise
        found = replace(found, step=None, installed=True)
    if found.failure:
        raise WorldError(found.failure)
    return found
