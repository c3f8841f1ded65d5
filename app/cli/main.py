"""The command `idlehive`: its verbs, and how it ends on an error.

Exit codes: 0 done, 2 wrong use (one line on stderr), 1 anything else.
"""

import argparse
import atexit
import errno
import gc
import io
import os
import sys
from importlib import import_module

from app.cli.console import language, output
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Layout, Parser, add_verb
from app.text.i18n import N_, tr
from app.text.messages import sentence
from core.api.errors import IdlehiveError, UsageError
from core.client.profile import Profile

TEXT = help_text("""
Give your computer's idle time to open deep-learning collaborations.

  idlehive                             open the window and the tray icon
  idlehive --in-tray                   the tray icon alone, as at login
  idlehive contribute --for 2h         contribute here, without a window
  idlehive status                      what is going on, and why
  idlehive pause --for 1h              leave this computer alone for an hour
  idlehive projects                    what you can contribute to
  idlehive doctor                      what is missing on this computer
  idlehive --machine lab status        the same of another machine

`idlehive VERB --help` explains a verb and shows examples.
""")

OPEN_TEXT = help_text("""
Open the window, with a project's address filled in.

  idlehive open idlehive:https://example.org/project.json
  idlehive open bees.idlehive
""")

EPILOGUE = help_text("""
IDLEHIVE_HOME names another profile folder, with its own projects, limits and
engine. Exit codes: 0 done, 2 wrong use, 1 anything else.
""")

_VERBS = {
    "contribute": "contribute",
    "status": "status",
    "pause": "intent",
    "resume": "intent",
    "quit": "intent",
    "projects": "projects",
    "limits": "limits",
    "schedule": "schedule",
    "history": "history.history",
    "identity": "identity",
    "disk": "disk",
    "events": "events",
    "host": "host.host",
    "log": "log",
    "remote": "remote",
    "runtime": "installation.runtime",
    "service": "installation.service",
    "update": "installation.update",
    "remove-everything": "installation.remove_everything",
    "doctor": "doctor.doctor",
}
"""Each verb's module. Only that of the chosen one is imported: scripts ask for the status again and again."""
_HERE_ONLY = frozenset(
    {"contribute", "log", "remote", "service", "remove-everything", "doctor", "open", "host", "--in-tray"}
)
"""Verbs that use more of a computer than its engine, and the window itself."""
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)
_FAILED = 1
_WRONG_USE = 2


def main(argv: list[str] | None = None) -> int:
    """Run one command line and return the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without UTF-8 has no arrows
    language.use(language.choose(arguments, Profile.from_environment().path, os.environ))
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except UsageError as error:
        return _print_error(sentence(error.message), _WRONG_USE)
    except IdlehiveError as error:
        return _print_error(sentence(error.message), _FAILED)
    except BrokenPipeError:
        _drop_output()  # the reader has closed the pipe
        return _FAILED
    except KeyboardInterrupt:
        return _print_error(tr("Interrupted."), _FAILED)
    except OSError as error:
        if error.errno not in _DISK_ERRORS:
            return _print_error(_keep_traceback(error), _FAILED)
        _drop_output()
        what = error.filename or tr("The output")
        return _print_error(tr("{path} cannot be written: {detail}.", path=what, detail=error.strerror), _FAILED)
    except Exception as error:  # noqa: BLE001 - the outermost place: a bug, kept for a report
        return _print_error(_keep_traceback(error), _FAILED)
    return code


def _drop_output() -> None:
    """Otherwise Python would fail again when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _run(given: list[str]) -> int:
    arguments, profile = _chosen_machine(given)
    if arguments[:1] in ([], ["--in-tray"], ["open"]) and not {"-h", "--help"} & set(arguments):
        from app.cli import window

        return window.run(arguments)
    try:
        parsed = _parser(arguments[0]).parse_args(arguments)
    except SystemExit as done:  # after --help and --version
        return done.code if isinstance(done.code, int) else 0
    atexit.register(gc.freeze)  # The process ends: the collector need not look at all of it twice more.
    code: int = parsed.run(parsed, profile)
    return code


def _chosen_machine(given: list[str]) -> tuple[list[str], Profile]:
    """The arguments without `--machine NAME`, which may stand before or after the verb."""
    profile = Profile.from_environment()
    if not any(word.partition("=")[0] == "--machine" for word in given):
        return given, profile
    chooser = Parser(prog="idlehive", add_help=False, allow_abbrev=False)
    _add_machine(chooser)
    chosen, arguments = chooser.parse_known_args(given)
    from core.client.machines import Machines

    machine = Machines(profile).named(chosen.machine)
    verb = arguments[0] if arguments else "open"
    if verb in _HERE_ONLY and not {"-h", "--help"} & set(arguments):
        raise UsageError("machine_not_meant", verb=verb, host=machine.host)
    return arguments, profile.at(machine)


def _add_machine(parser: Parser) -> None:
    parser.add_argument("--machine", metavar="NAME", help=N_("use the engine of another machine (`idlehive remote`)"))


class _Version(argparse.Action):
    """Looks for the version only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from core.client.installation import version

        print(f"idlehive {version() or tr('(from a checkout)')}")
        parser.exit()


def command_line() -> Parser:
    """The parser of all verbs."""
    return _parser("")


def _parser(verb: str) -> Parser:
    """Knows this verb; if there is none such, all of them."""
    parser = Parser(
        prog="idlehive",
        description=TEXT,
        epilog=EPILOGUE,
        formatter_class=Layout,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help=N_("show program's version number and exit"))
    _add_machine(parser)
    verbs = parser.add_subparsers(metavar="VERB", title=N_("verbs"), required=True, parser_class=Parser)
    modules = [_VERBS[verb]] if verb in _VERBS else list(dict.fromkeys(_VERBS.values()))
    for module in modules:
        import_module(f"app.cli.{module}").add(verbs)
    add_verb(verbs, "open", N_("open the window, with a project's link or file"), OPEN_TEXT).add_argument(
        "project",
        metavar="LINK_OR_FILE",
        nargs="?",
        help=N_("its address is filled in; nothing is read before you add it"),
    )
    return parser


def _print_error(sentence: str, code: int) -> int:
    """Print the sentence as one line."""
    output.say(f"idlehive: {' '.join(sentence.split())}", sys.stderr)
    return code


def _keep_traceback(error: Exception) -> str:
    import traceback

    what = tr("something went wrong inside Idlehive ({kind})", kind=type(error).__name__)
    path = Profile.from_environment().logs / "cli-crash.log"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text("".join(traceback.format_exception(error)))
    except OSError as problem:
        return tr("{what}, and {path} cannot be written: {detail}.", what=what, path=path, detail=problem.strerror)
    return tr("{what}; {path} has the details.", what=what, path=path)
