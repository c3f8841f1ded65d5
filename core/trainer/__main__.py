"""Entry point of the trainer process: reads commands, runs one session, sends reports."""

import logging
import os
import sys
import threading

from core.api.errors import IdlehiveError, UsageError
from core.api.message import Message
from core.api.session import Fault
from core.conditions.desktop_proxy import DesktopProxy
from core.system import proxy
from core.system.priority import PROMPTLY, lower_priority, start_promptly
from core.system.subreaper import end_children_with_this_process
from core.trainer.control import Control, read_start
from core.trainer.reporter import Reporter

log = logging.getLogger("core.trainer")

_CHECK_EVERY = 0.05
"""Seconds between two checks, while libraries load, whether to leave."""
_AWAITED = 20.0
"""Seconds, at most, in which a start that a person waits for has the priority of other programs."""


def main() -> int:
    end_children_with_this_process()
    if PROMPTLY in sys.argv:
        start_promptly()
        # Long preparations, such as large downloads, are nothing to wait for.
        stepping_back = threading.Timer(_AWAITED, lower_priority)
        stepping_back.daemon = True
        stepping_back.start()
    else:
        lower_priority()
    reporter = Reporter.take_standard_output()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # Not sys.stdin: a forked process closes it first, and would wait for the lock that the reading thread holds.
    wire = open(os.dup(0), "rb")  # noqa: PTH123, SIM115 - a descriptor, for the life of the process
    loading = threading.Thread(target=_load_libraries, name="loading", daemon=True)
    loading.start()
    start = read_start(wire)
    if start is None:
        return 0
    proxy.use(start.proxy)
    proxy.use_desktop(DesktopProxy())
    control = Control(wire, start.settings)
    control.start()
    while loading.is_alive() and not control.leaving.is_set():
        loading.join(_CHECK_EVERY)
    if control.leaving.is_set():
        # Imports take seconds, and nothing else has begun.
        return 0
    from core.learning.data.download import StoppedError
    from core.trainer.build import joined_session

    try:
        with joined_session(start, control, reporter) as session:
            # All processes are there, and computing begins.
            lower_priority()
            session.contribute()
    except StoppedError:
        log.info("left before joining")
    except IdlehiveError as error:
        return _fail(reporter, control, error.message, permanent=isinstance(error, UsageError))
    except MemoryError:
        return _fail(reporter, control, Message("memory_full"), permanent=False)
    except Exception as error:  # top level of the process: the engine gets a message, the log the traceback
        log.exception("the session broke")
        return _fail(reporter, control, Message("trainer_failed", {"detail": type(error).__name__}), permanent=False)
    reporter.stop()
    return 0


def _load_libraries() -> None:
    """torch, transformers and hivemind take seconds to load: start while waiting for the first line."""
    from core.learning.light_imports import loading

    with loading():
        import core.trainer.build  # noqa: F401
    log.info("start: libraries loaded")


def _fail(reporter: Reporter, control: Control, message: Message, *, permanent: bool) -> int:
    reporter.stop()
    if control.leaving.is_set():
        # Errors during shutdown do not matter: other peers may have ended too.
        log.info("while leaving: %s", message)
        return 0
    reporter.send(Fault(message, permanent))
    return 1


if __name__ == "__main__":
    code = main()
    logging.shutdown()
    # Not sys.exit, which waits for hivemind's threads and processes; the subreaper ends those.
    os._exit(code)
