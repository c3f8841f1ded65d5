"""How far the collaboration is: hivemind's progress tracker, made to doubt what it reads and to know of pauses."""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from hivemind.optim.progress_tracker import GlobalTrainingProgress, LocalTrainingProgress
from hivemind.p2p import PeerID
from hivemind.utils import ValueWithExpiration, get_dht_time

from core.swarm.dht.progress.credible_progress import (
    Disbelief,
    PeerHistory,
    PeerReport,
    credible_epoch,
    reports_in,
    supported_epoch,
)
from core.swarm.dht.progress.report_pace import GuardedEvent, Reported, WorkingSpeed
from core.swarm.dht.progress.tracker_thread import TrackerThread
from core.swarm.dht.progress.weight_limits import WeightLimits, weight_limits
from core.swarm.dht.records import own_subkey

_FAILED_LOADS = 2
"""Searches for a state without success, one after the other, after which a report of a later epoch counts as a lie."""
_UNBEGUN_READ_EVERY = 4.0
"""Seconds from one reading to the next of a batch that nobody is known to have begun, or newcomers alone."""
_SLACK = 3.0
"""Seconds that a report may take, or clocks may differ."""


def _as_bytes(peer: str) -> bytes:
    return bytes(PeerID.from_base58(peer).to_bytes())


class SwarmProgressTracker(TrackerThread):
    """Adds the swarm's speed, a pause that peers see, auxiliary peers, and steps at the exact batch for fixed data.

    Parameters:
        extrapolate: hivemind lets a peer begin an update at the *estimated* end of the epoch, so that nobody waits for
            reports; False waits until the samples are really reported.
        organiser: the epoch that the organiser vouches for; None if it is not known.
        validated: see `PeerHistory`.
        refused: peers that are taken into no group: their reports do not count.
    """

    def __init__(
        self,
        *args: Any,
        extrapolate: bool = True,
        organiser: Callable[[], int | None] = lambda: None,
        validated: Callable[[], Collection[bytes] | None] = lambda: None,
        refused: Callable[[], Collection[str]] = frozenset,
        start: bool,
        **kwargs: Any,
    ) -> None:
        self._extrapolate, self._organiser, self._refused = extrapolate, organiser, refused
        self._epoch, self._epoch_began, self._round_began = -1, 0.0, 0.0
        self._history, self._disbelief, self._failed_loads = PeerHistory(validated), Disbelief(), 0
        self._others: list[PeerReport] = []
        self._credible: list[PeerReport] = []
        self._held = False
        self._computing_on: frozenset[bytes] = frozenset()
        """Partners of the last update that computed on during its round."""
        self.swarm_samples_per_second = 0.0
        self.reported_epoch: int | None = None
        """The highest epoch that another trainer works on; None if there is none."""
        self.other_trainers = 0
        """Other peers that add samples."""
        self.expected_peers: dict[bytes, float] = {}
        """The other members of the next averaging group: all that reported lately, with the time of the report, and are
        not far behind."""
        self.auxiliary_peers: frozenset[bytes] = frozenset()
        """Other peers that take part and add no samples, such as backbones."""
        self.callable_peers: frozenset[bytes] = frozenset()
        """Others that listen. Those that only call others can neither lead a group nor give their state."""
        super().__init__(*args, start=False, **kwargs)
        self._local_public_key = own_subkey(self.dht.peer_id)
        self.should_report_progress, self._reported = GuardedEvent(), Reported()
        self.performance_ema: WorkingSpeed = WorkingSpeed()
        if start:
            self.start()

    @property
    def ready_to_update_epoch(self) -> bool:
        progress = self.global_progress
        if self._extrapolate:
            # Of an expected batch that nobody has begun, a round has nothing to average.
            is_begun = self.local_progress.samples_accumulated > 0 or progress.samples_accumulated > 0
            return bool(super().ready_to_update_epoch) and (is_begun or progress.epoch > self.local_progress.epoch)
        return bool(
            progress.epoch > self.local_progress.epoch or progress.samples_accumulated >= self.target_batch_size
        )

    @property
    def sees_others(self) -> bool:
        """Whether another peer takes part in the run, as read last."""
        return bool(self.global_progress.num_peers > 1)

    @property
    def others_can_be_reached(self) -> bool:
        return bool(self.callable_peers)

    def refresh(self) -> None:
        """Read the others' progress now, on this thread."""
        with self.lock_global_progress:
            self.global_progress = self._fetch()

    def others_are_ahead(self) -> bool:
        """Whether the run is in a later epoch now. For use during a round, in which hivemind's tracker is paused."""
        return bool(self._fetch().epoch > self.local_progress.epoch)

    def _fetch(self) -> GlobalTrainingProgress:
        found = self.dht.get(self.training_progress_key, latest=True)
        return self._parse_swarm_progress_data(found.value if found is not None else None)

    def announce(self, epoch: int) -> None:
        """Report that this peer averages with the others and adds no samples. hivemind reports only peers that do."""
        self.dht.store(
            key=self.training_progress_key,
            subkey=self._local_public_key,
            value=self._get_local_progress(epoch, 0).dict(),
            expiration_time=get_dht_time() + self.metadata_expiration,
            return_future=True,
        )

    def report_local_progress(
        self, local_epoch: int, samples_accumulated: int, update_global_samples: bool = True
    ) -> None:
        """Count samples, and report them if the others do not expect as much: hivemind reports each microbatch.

        The first of an epoch are always reported: hivemind's reporter falls silent two epochs after the last report
        with samples. And the others' progress is read then: before anybody has computed, hivemind expects the end of
        the epoch in years and does not look for ten seconds, in which whole updates may be made.
        """
        before = self.local_progress
        more = samples_accumulated - before.samples_accumulated
        is_first = more > 0 and not before.samples_accumulated
        is_news = local_epoch != before.epoch or more <= 0 or is_first or not self._extrapolate
        is_full = self.global_progress.samples_accumulated + more >= self.target_batch_size
        is_outdated = self._reported.is_outdated(
            samples_accumulated, get_dht_time(), batch=self.target_batch_size, step=more
        )
        if is_due := is_news or is_outdated or (is_full and not self._round_began):
            self.should_report_progress.allow()
        super().report_local_progress(local_epoch, samples_accumulated, update_global_samples)
        if is_due:
            self._note_report()
        if is_first:
            self.global_progress.next_fetch_time = 0.0
            self.global_state_updated.set()

    def hold(self, held: bool, samples_accumulated: int) -> None:
        """Report that this peer stops adding samples, or goes on with those it had.

        Without it the others extrapolate this peer's speed until its record expires, and begin rounds too early.
        """
        self._held = held
        self.report_unmeasured(self.local_progress.epoch, samples_accumulated)
        self.performance_ema.reset_timer()

    def report_unmeasured(self, epoch: int, samples: int) -> None:
        """Report samples that were computed some time ago: counted as new, they would change this peer's speed."""
        samples, ema = 0 if self._held else samples, self.performance_ema
        measured = ema.ema_seconds_per_sample, ema.num_updates, ema.samples_per_second, ema.timestamp
        self.report_local_progress(epoch, samples)
        ema.ema_seconds_per_sample, ema.num_updates, ema.samples_per_second, ema.timestamp = measured
        self.local_progress: LocalTrainingProgress = self._get_local_progress(epoch, samples)
        self._note_report()

    def report_rest(self) -> None:
        """Report the present speed if this peer rests for longer than the others expect.

        They extrapolate the speed of before, and begin rounds of few samples, which cost a peer the processor time that
        its next samples need.
        """
        told, step = self.local_progress, self.performance_ema.step
        expected, now = self._reported, get_dht_time()
        is_late = expected.promises_too_much(told.samples_accumulated, now, batch=self.target_batch_size, step=step)
        if not step or self._held or self._round_began or not self._extrapolate or not is_late:
            return
        progress = self._get_local_progress(told.epoch, told.samples_accumulated)
        self.local_progress = progress.copy(update={"samples_per_second": self.performance_ema.present})
        self._note_report()
        self.should_report_progress.allow()
        self.should_report_progress.set()

    def _note_report(self) -> None:
        told = self.local_progress
        self._reported = Reported(told.samples_accumulated, told.samples_per_second, told.time)

    def _get_local_progress(self, local_epoch: int, samples_accumulated: int) -> LocalTrainingProgress:
        progress = super()._get_local_progress(local_epoch, samples_accumulated)
        if local_epoch != self._epoch:
            # Others compute on while a round runs: these samples count in the epoch after it.
            self._epoch, self._epoch_began = local_epoch, self._round_began or get_dht_time()
            self._round_began = 0.0
        return progress.copy(update={"samples_per_second": 0.0}) if self._held else progress

    def begin_round(self) -> None:
        """The samples of this epoch are being averaged, until `end_round` or the next epoch."""
        self._round_began = get_dht_time()

    def end_round(self) -> None:
        """The round has failed."""
        self._round_began = 0.0

    def add_round(
        self, partners: Collection[str], *, is_one_group: bool, computing_on: Collection[str] = frozenset()
    ) -> None:
        """This peer has made an update with these peers, of whom some computed on during its round."""
        self._failed_loads = 0
        self._history.add_round(map(_as_bytes, partners), is_one_group=is_one_group)
        self._computing_on = frozenset(_as_bytes(peer) for peer in partners if peer in computing_on)

    def weight_limits(self, smallest: int) -> WeightLimits:
        """What the others may weigh in an average; `smallest` is how many samples a peer adds at once."""
        known, newcomers = list[PeerReport](), list[PeerReport]()
        for report in self._credible:
            (known if self._history.has_proved_itself(report) else newcomers).append(report)
        now, began = get_dht_time(), self._epoch_began
        return weight_limits(self._own_report, known, newcomers, now=now, began=began, smallest=smallest)

    @property
    def _own_report(self) -> PeerReport:
        return PeerReport(self._local_public_key, **self.local_progress.dict())

    def add_failed_load(self) -> None:
        """No peer gave the state of the run's epoch. After the second time, unsupported reports of it count as lies."""
        self._failed_loads += 1
        if self._failed_loads >= _FAILED_LOADS:
            known = max(self.local_progress.epoch, supported_epoch(self._others, self._organiser()))
            self._disbelief.add((report.slot for report in self._others if report.epoch > known), get_dht_time())

    @property
    def has_nothing_to_load(self) -> bool:
        """Whether this peer can go on without a state from others: the run has not begun, or is no further."""
        self.refresh()
        return self.is_unbegun or 0 < self.local_progress.epoch >= self.global_epoch

    @property
    def is_unbegun(self) -> bool:
        """Whether nobody has begun the run, by all that is known."""
        return not self._organiser() and self.global_epoch == 0

    def shutdown(self, timeout: float | None = None) -> None:
        self.should_report_progress.allow()
        super().shutdown(timeout)

    def _parse_swarm_progress_data(self, metadata: Any) -> GlobalTrainingProgress:
        # hivemind believes all that is reported, and counts the records it finds. A newcomer whose own is not among
        # them yet would take one other peer for itself, believe it is alone, and step alone; and rounds would wait in
        # vain for a peer that is on hold.
        now, peer, slot = get_dht_time(), self.dht.peer_id.to_bytes(), self._local_public_key
        reports = reports_in(metadata, now, self.target_batch_size)
        refused = {PeerID.from_base58(refused).to_bytes() for refused in self._refused()}
        others = (report for report in reports if report.peer_id != peer and report.slot != slot)
        self._others = [report for report in others if report.peer_id not in refused]
        epoch = credible_epoch(self.local_progress.epoch, self._others, self._organiser(), self._disbelief.slots(now))
        self._credible = [report for report in self._others if report.epoch <= epoch]
        counting = self._history.limited(self._credible, self._own_report, self._is_alive)
        known = any(report.slot == slot for report in reports)
        counted = [*map(self._with_samples_of_round, counting), *([self._own_report] if known else [])]
        progress = super()._parse_swarm_progress_data(
            {report.slot: ValueWithExpiration(report.record(), now) for report in counted}
        )
        if epoch > progress.epoch:
            progress.epoch, progress.samples_accumulated = epoch, 0
        trainers = [report for report in counting if report.adds_samples]
        if not progress.samples_accumulated or (trainers and not any(map(self._history.is_known, trainers))):
            # Its first samples tell how long it takes; a peer that adds none, like a backbone, hears of them only so.
            # Those of newcomers are slower than what they compute later: some seconds may look like minutes.
            progress.next_fetch_time = min(progress.next_fetch_time, now + _UNBEGUN_READ_EVERY)
        if self._round_began:
            # hivemind looks twice a second for the end of an epoch that has ended.
            progress.next_fetch_time = max(progress.next_fetch_time, now + self.default_refresh_period)
        partners = [*trainers, *(report for report in counting if report.is_auxiliary)]
        progress.num_peers = 1 + len(partners)
        self.expected_peers = {report.peer_id: report.time for report in partners if self._is_expected(report)}
        self.auxiliary_peers = frozenset(report.peer_id for report in partners if report.is_auxiliary)
        self.swarm_samples_per_second = sum(report.samples_per_second for report in counted)
        self.other_trainers = len(trainers)
        self.reported_epoch = max((report.epoch for report in trainers), default=None)
        self.callable_peers = frozenset(report.peer_id for report in partners if not report.client_mode)
        return progress

    def _with_samples_of_round(self, report: PeerReport) -> PeerReport:
        """What a partner has not reported yet that computed on during the round: all come from it at the same time."""
        if report.peer_id in self._computing_on and report.epoch == self._epoch - 1:
            return replace(report, epoch=self._epoch, samples_accumulated=0, time=self._epoch_began)
        return report

    def _is_expected(self, report: PeerReport) -> bool:
        """One that is an epoch behind is about to follow. So is a partner of the last update, if its record is old."""
        is_near = self._history.is_known(report) or report.epoch >= self.local_progress.epoch - 1
        return self._is_alive(report) and bool(is_near)

    def _is_alive(self, report: PeerReport) -> bool:
        """hivemind's peers report at least twice until their record expires."""
        return bool(get_dht_time() - report.time < self.metadata_expiration / 2 + _SLACK)
