"""Reads what peers claim and report in the DHT, again and again, and has it judged."""

import logging
import threading
import time
from collections.abc import Callable

from hivemind import DHT

from core.api.errors import WorldError
from core.host.contributions.audit import Audit
from core.host.contributions.poll_pace import PollPace
from core.host.contributions.store import ContributionStore
from core.swarm.dht.contributions import ContributionRecords
from core.swarm.dht.progress.run_monitor import RunMonitor, RunProgress

log = logging.getLogger(__name__)

_CHECK_EVERY = 10.0
"""Seconds between two looks whether the DHT keeps what is stored."""
_PERIOD = 1.0
_PRESENCE_PERIOD = 20.0
"""Seconds between two polls, and between two records of how many peers there are."""
_MOST_RECORDS = 4096


class ContributionAuditor:
    """Runs an `Audit` on the DHT's statements, on a thread of its own."""

    def __init__(
        self,
        dht: DHT,
        run_id: str,
        audit: Audit,
        store: ContributionStore,
        epoch: Callable[[], int],
        *,
        is_dht_working: Callable[[], bool],
    ) -> None:
        """`epoch` returns an epoch that the run has certainly reached."""
        self._is_dht_working, self._dht_checked_at = is_dht_working, 0.0
        self._monitor, self._records = RunMonitor(dht, run_id), ContributionRecords(dht, run_id)
        self._audit, self._store, self._epoch = audit, store, epoch
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="contribution audit", daemon=True)
        self._presence_at = 0.0
        self.progress = RunProgress()
        self.read_at = 0.0
        """When the DHT was last seen to work, UTC seconds: it answered, and has what this backbone stored."""
        self.held = False

    def start(self) -> None:
        self._thread.start()

    def poll(self, now: float) -> None:
        """Read and judge the statements once. `now` is UTC seconds.

        Raises:
            WorldError: the store cannot be written; a later poll can read the statements again.
        """
        self.progress = self._monitor.read(self._epoch())
        if not self._dht_checked_at <= now < self._dht_checked_at + _CHECK_EVERY and self._is_dht_working():
            self._dht_checked_at = self.read_at = now
        self._audit.observe(self.progress, self._epoch(), now)
        # Anybody can write more than are judged.
        met = self._audit.met
        found = sorted(self._records.read(), key=lambda record: record.slot not in met)[:_MOST_RECORDS]
        for record in found:
            self._audit.judge(record, now)
        present = {record.slot for record in found} | set(self.progress.slots)
        self._audit.forget(present)
        if now >= self._presence_at + _PRESENCE_PERIOD or now < self._presence_at:
            self._presence_at = now
            self._store.record_presence(len(self.progress.peers), self.progress.samples_per_second, now)
            self._store.prune(self._audit.epoch, [slot.hex() for slot in present])

    def close(self) -> None:
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(10.0)

    def _run(self) -> None:
        pace = PollPace()
        while not self._closing.wait(_PERIOD):
            if self.held or not pace.is_due(time.monotonic(), self._epoch(), len(self.progress.peers)):
                continue
            try:
                self.poll(time.time())
            except WorldError as error:
                log.error("%s", error)  # noqa: TRY400 - no traceback needed
            except Exception:  # top level of the thread; the main thread checks the DHT
                log.exception("a poll of the contributions failed")
