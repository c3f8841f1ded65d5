"""history export, import, summary, certificate, delete: the record as files, and its deletion."""

import argparse
import os
import sys
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from types import NoneType

import msgspec

from app.cli.console import layout, output, source
from app.cli.console.connection import ask
from app.cli.console.parser import Verbs, add_part, add_verb
from app.text.formats import amounts
from app.text.i18n import N_, tr
from app.text.messages import sentence
from core.api.errors import UsageError, WorldError
from core.api.machines import Machine
from core.api.record.record import DeleteHistory, ExportHistory, GetOverview, ImportHistory, Overview, Written
from core.client.collecting import TIMEOUT, collect
from core.client.machines import Machines
from core.client.profile import Profile


class Collected(msgspec.Struct, frozen=True):
    """What a machine's history brought, as `history collect --json` prints it."""

    machine: str
    hours: int
    new_hours: int
    failed: bool
    text: str


_CONFIRMATION = "delete"


def add(parts: Verbs, text: str) -> None:
    export = add_part(parts, "export", N_("write the history into a file"), text, run_export)
    export.add_argument("file", metavar="FILE", help=N_("ends in .json, or in .csv for spreadsheets; - prints JSON"))
    add_part(parts, "collect", N_("add the history of your other machines"), text, run_collect)
    taking = add_part(parts, "import", N_("add the contents of an exported file"), text, run_import)
    taking.add_argument("file", metavar="FILE")
    summary = add_verb(parts, "summary", N_("a year as a picture"), text, run_summary)
    summary.add_argument("file", metavar="FILE", help=N_("ends in .png or .svg"))
    summary.add_argument("--year", type=int, metavar="YEAR", help=N_("the year (default: this one)"))
    certificate = add_verb(parts, "certificate", N_("a page to print, with all figures"), text, run_certificate)
    certificate.add_argument("file", metavar="FILE", help=N_("ends in .pdf"))
    certificate.add_argument("--name", default="", help=N_("the volunteer's name (default: none)"))
    delete = add_verb(parts, "delete", N_("delete the whole history"), text, run_delete)
    delete.add_argument("--yes", action="store_true", help=N_("without asking"))


def run_export(arguments: argparse.Namespace, profile: Profile) -> int:
    if arguments.file == "-":
        _refuse_elsewhere(profile, "history export -")
        return _print_export(profile)
    path, form = _path(arguments.file, ".json", ".csv")
    source.refuse_elsewhere(profile, path)
    written = ask(profile, ExportHistory(str(path), "csv" if form == ".csv" else "json"), Written, TIMEOUT)
    return output.answer(
        arguments, written, tr("{contents} written to {path}.", contents=_contents(written), path=_shown(path))
    )


def run_import(arguments: argparse.Namespace, profile: Profile) -> int:
    path, _ = _path(arguments.file)
    source.refuse_elsewhere(profile, path)
    written = ask(profile, ImportHistory(str(path)), Written, TIMEOUT)
    new = amounts.hours(written.new_hours) if written.new_hours else tr("nothing")
    sentence = tr("{contents} read; {new} of it was new.", contents=_contents(written), new=new)
    return output.answer(arguments, written, sentence)


def run_collect(arguments: argparse.Namespace, profile: Profile) -> int:
    _refuse_elsewhere(profile, "history collect")
    found = [_collected(profile, machine) for machine in Machines(profile).all()]
    if arguments.json:
        output.print_json(found)
    elif not found:
        output.say(output.no_machines())
    else:
        output.say("\n".join(each.text for each in found))
    return 1 if any(each.failed for each in found) else 0


def _refuse_elsewhere(profile: Profile, verb: str) -> None:
    """Raises UsageError: a temporary file of this computer means nothing to the engine of another one."""
    if profile.machine is not None:
        raise UsageError("machine_not_meant", verb=verb, host=profile.machine.host)


def _collected(profile: Profile, machine: Machine) -> Collected:
    try:
        written = collect(machine, lambda file: ask(profile, ImportHistory(str(file)), Written, TIMEOUT))
    except WorldError as error:
        return Collected(machine.name, 0, 0, failed=True, text=sentence(error.message))
    new = amounts.hours(written.new_hours)
    text = tr(
        "{machine}: {contents} read, {new} of it new.", machine=machine.name, contents=_contents(written), new=new
    )
    return Collected(machine.name, written.hours, written.new_hours, failed=False, text=text)


def _print_export(profile: Profile) -> int:
    with TemporaryDirectory(prefix="idlehive-") as folder:
        path = Path(folder) / "history.json"
        ask(profile, ExportHistory(str(path)), Written, TIMEOUT)
        sys.stdout.write(path.read_text(encoding="utf-8"))
    return 0


def run_summary(arguments: argparse.Namespace, profile: Profile) -> int:
    path, form = _path(arguments.file, ".png", ".svg")
    year = arguments.year or datetime.now().astimezone().year
    if not 1970 <= year <= 9998:
        raise UsageError("year_invalid", year=year)
    begin, end = (datetime(each, 1, 1).astimezone().timestamp() for each in (year, year + 1))
    overview = ask(profile, GetOverview(begin, end, year), Overview)
    _make_application()
    from app.history import certificate

    certificate.save_summary(overview, path, svg=form == ".svg")
    output.say(tr("The year {year} is in {path}.", year=year, path=_shown(path)))
    return 0


def run_certificate(arguments: argparse.Namespace, profile: Profile) -> int:
    path, _ = _path(arguments.file, ".pdf")
    overview = ask(profile, GetOverview(), Overview)
    _make_application()
    from app.history import certificate

    certificate.save_certificate(overview, path, arguments.name)
    output.say(tr("The certificate is in {path}.", path=_shown(path)))
    return 0


def run_delete(arguments: argparse.Namespace, profile: Profile) -> int:
    if not arguments.yes and not _is_sure():
        output.say(tr("Nothing was deleted."))
        return 1
    ask(profile, DeleteHistory(everything=True), NoneType)
    output.say(tr("The history of this computer is deleted; projects and limits are unchanged."))
    return 0


def _is_sure() -> bool:
    output.say(tr("This deletes every session, hour and epoch of your history, and this month's data count."))
    ask_for = tr("`idlehive history export FILE` keeps a copy. Type `{word}` to confirm:", word=tr("delete"))
    print(*layout.fitted(ask_for, output.columns()), sep="\n", end=" ", flush=True)
    return sys.stdin.readline().strip().lower() in {_CONFIRMATION, tr("delete")}


def _path(text: str, *endings: str) -> tuple[Path, str]:
    """The full path, and its ending if that is one of `endings`."""
    path = Path(text).expanduser().absolute()
    ending = path.suffix.lower()
    if endings and ending not in endings:
        raise UsageError("ending_wrong", path=text, endings=endings)
    return path, ending


def _contents(written: Written) -> str:
    hours, sessions = amounts.hours(written.hours), amounts.sessions(written.sessions)
    return tr("{hours} of {sessions}", hours=hours, sessions=sessions)


def _shown(path: Path) -> str:
    return output.printable(str(path))


def _make_application() -> None:
    """Qt, without a screen: it only draws into a file."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from app.window.application import make_application

    global _application
    _application = make_application([])


_application: object = None
"""Kept while anything is drawn."""
