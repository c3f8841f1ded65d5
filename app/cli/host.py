"""host: an organiser's backbone. `core.host` does the work; this words what it reports."""

import signal
import subprocess
import sys
from types import FrameType

import msgspec

from app.cli.console.signals import ENDING
from app.text.i18n import tr
from core.api import hosting
from core.api.errors import UsageError, WorldError
from core.api.message import Message
from core.api.session import Fault
from core.client.installation import compute_command, core_environment
from core.client.profile import Profile

_WRONG_USE = 2


def run(arguments: list[str]) -> int:
    """Run `core.host` until it ends. It gets the signals; the exit code is its own.

    Raises:
        UsageError, WorldError: it cannot serve.
    """
    command = compute_command(Profile.from_environment(), "core.host", *arguments)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=core_environment())

    def pass_on(number: int, _frame: FrameType | None) -> None:
        process.send_signal(number)

    for number in ENDING:
        signal.signal(number, pass_on)
    failure = _follow(process)
    code = process.wait()
    if failure is not None:
        raise (UsageError if code == _WRONG_USE else WorldError)(failure)
    return code if code >= 0 else 1


def _follow(process: "subprocess.Popen[bytes]") -> Message | None:
    """Print what it reports until it ends; the failure that it ends with, if it is one."""
    failure = None
    for line in process.stdout or ():
        try:
            report = hosting.host_decoder.decode(line)
        except msgspec.DecodeError:  # its help
            sys.stdout.write(line.decode(errors="replace"))
            continue
        if isinstance(report, Fault):
            failure = report.error
        else:
            url = report.manifest_url
            join = tr("Volunteers join with: {command}", command=f"idlehive contribute {url}")
            print(tr("Serving {url}", url=url), join, sep="\n", flush=True)
    return failure
