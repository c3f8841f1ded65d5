"""Runs a backbone in the foreground. `idlehive host` words its reports."""

import argparse
import contextlib
import logging
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

from core.api import hosting
from core.api.errors import IdlehiveError, UsageError, WorldError
from core.api.message import Message
from core.api.session import Fault
from core.client.installation import core_command, core_environment
from core.host import notes
from core.host.control import EvaluationStopped, HostControl
from core.host.project import load
from core.system.forking.requests import ForkServer
from core.system.orphans import TAG
from core.system.priority import PROMPTLY, lower_priority, start_promptly
from core.system.subreaper import end_children_with_this_process

log = logging.getLogger("core.host")
phases = logging.getLogger("core.host.start")

_PERIOD = 1.0
"""Seconds between two polls of the run."""
_GRACE = 300.0
"""Seconds for the evaluation and the checkpoint at the end."""


def arguments(argv: list[str]) -> argparse.Namespace:
    """`app.cli.host.host` explains them, and refuses what is wrong."""
    parser = argparse.ArgumentParser(prog="core.host", add_help=False, allow_abbrev=False)
    parser.add_argument("project", type=Path)
    parser.add_argument("--listen")
    parser.add_argument("--announce")
    parser.add_argument("--http", default=hosting.HTTP)
    parser.add_argument("--state", type=Path)
    for switch in ("--companion", "--embedded", PROMPTLY):
        parser.add_argument(switch, action="store_true")
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    chosen = arguments(argv)
    end_children_with_this_process()
    server = _fork_server() if chosen.companion else None
    if chosen.promptly:
        start_promptly()
    elif chosen.embedded:
        # Embedded, it runs on a volunteer's computer; an organiser's own needs no low priority.
        lower_priority()
    pipe = os.dup(1)
    os.dup2(2, 1)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    if not chosen.embedded:
        _speak_to_organiser(pipe)
    # hivemind ends its forked processes by SIGTERM: they must not inherit our handler.
    os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
    ending = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ending.set())
    control = HostControl(ending) if chosen.embedded else None
    try:
        _serve(chosen, ending, control, pipe, server)
    except IdlehiveError as error:
        os.write(pipe, hosting.encode(Fault(error.message)))
        return 2 if isinstance(error, UsageError) else 1
    return 0


def _fork_server() -> ForkServer | None:
    if sys.platform != "linux":
        return None
    from core.system.forking.server import fork_server

    return fork_server()


def _speak_to_organiser(pipe: int) -> None:
    """The log has only what is technical; and nothing stands before the sentence that refuses a project."""
    for handler in logging.root.handlers:
        handler.addFilter(notes.is_technical)
    logging.root.addHandler(notes.NoteHandler(pipe))
    phases.setLevel(logging.WARNING)


def _serve(
    chosen: argparse.Namespace,
    ending: threading.Event,
    control: HostControl | None,
    pipe: int,
    server: ForkServer | None,
) -> None:
    # Report a mistake in the file before torch loads, which takes seconds.
    project = load(chosen.project)
    from core.learning.light_imports import loading

    with loading():
        from core.host.build import assemble
        from core.learning.layers import LayerChecks
    phases.info("start: libraries loaded")

    with assemble(chosen, project, Path(os.environ[TAG]), server) as (backbone, url):
        if chosen.promptly:
            lower_priority()
        # hivemind has made this process ignore SIGINT.
        signal.signal(signal.SIGINT, lambda *_: ending.set())
        if control is not None:
            control.subscribe(backbone.hold, backbone.apply_to_companion)
            # An evaluation takes seconds, so it can also pause or end in the middle.
            LayerChecks(backbone.auxiliary.model, control.wait_while_held)
        os.write(pipe, hosting.encode(hosting.Serving(url)))
        phases.info("start: serving")
        with contextlib.suppress(EvaluationStopped):
            while not ending.wait(_PERIOD):
                if not backbone.auxiliary.is_working:
                    raise WorldError("backbone_part_ended")
                backbone.poll(time.time())
        log.info("%s", Message("host_ending"))


def _put_under_subreaper() -> None:
    """Continue as a child of the subreaper, so that no process of the backbone outlives it.

    There are two nested subreapers: no engine here would clean up after a killed one.
    """
    folder = tempfile.mkdtemp(prefix="idlehive-")
    subreaper = core_command("core.system.subreaper", "--grace", str(_GRACE), folder, "--")
    command = [*subreaper, *subreaper, *core_command("core.host", *sys.argv[1:])]
    os.execve(command[0], command, core_environment())


if __name__ == "__main__":
    if TAG not in os.environ:
        _put_under_subreaper()
    code = main(sys.argv[1:])
    logging.shutdown()
    os._exit(code)
