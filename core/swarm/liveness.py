"""Notices when a process has ended that a peer cannot do without.

hivemind does not: a training loop would wait for an answer that cannot come, or continue alone.
"""

import logging
import os
import select
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack

import psutil
from hivemind import DHT

from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.traffic.wire_monitor import daemon_of
from core.system.instances import lives

log = logging.getLogger(__name__)

_PERIOD = 0.5
"""Seconds between two checks, where the system does not wake whoever waits for the end of another one's process."""


class Liveness:
    """Checks DHT, both averagers and the daemon on a thread of its own, until `stop`."""

    def __init__(self, processes: Mapping[str, psutil.Process], on_death: Callable[[str], None]) -> None:
        """`on_death` is called once, on the watching thread, with the name of what has ended."""
        self._processes = dict(processes)
        self._on_death = on_death
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="liveness", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop checking: the processes may now end."""
        self._stopped.set()

    @property
    def missing(self) -> str | None:
        """The name of what has ended."""
        return ended(self._processes)

    def end_if_missing(self) -> None:
        """Call `on_death` on this thread if a process has ended."""
        if (name := self.missing) is not None:
            self._on_death(name)

    def _watch(self) -> None:
        while not self._stopped.is_set():
            if not _wait_for_end_of_any(self._processes.values()):
                self._stopped.wait(_PERIOD)
            if (name := self.missing) is not None and not self._stopped.is_set():
                self._on_death(name)
                return


def processes_of(dht: DHT, optimizer: CollaborativeOptimizer) -> dict[str, psutil.Process]:
    """The required processes by the kind of failure that their end is."""
    required = {
        "dht_ended": psutil.Process(dht.pid),
        "state_averager_ended": psutil.Process(optimizer.state_averager.pid),
        "daemon_ended": daemon_of(dht),
    }
    if optimizer.grad_averager.pid is not None:  # not that of a peer that only takes the state over
        required["gradient_averager_ended"] = psutil.Process(optimizer.grad_averager.pid)
    return required


def _wait_for_end_of_any(processes: Iterable[psutil.Process]) -> bool:
    """False at once if the system cannot wait for them all (pidfd_open(2), Linux), or one has ended before."""
    if sys.platform != "linux":
        return False
    ends = select.poll()
    with ExitStack() as opened:
        try:
            for process in processes:
                descriptor = os.pidfd_open(process.pid)
                opened.callback(os.close, descriptor)
                ends.register(descriptor, select.POLLIN)
        except OSError:
            return False
        return bool(ends.poll())


def ended(processes: Mapping[str, psutil.Process]) -> str | None:
    """The name of one that has ended."""
    return next((name for name, process in processes.items() if not lives(process)), None)
