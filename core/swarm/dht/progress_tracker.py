"""How far the collaboration is: hivemind's progress tracker, with what a volunteer's window and a pause need."""

from collections.abc import Mapping
from typing import Any

from hivemind.optim.progress_tracker import GlobalTrainingProgress, LocalTrainingProgress, ProgressTracker
from hivemind.utils import get_dht_time

_NO_SPEED = 1e-12
"""Samples per second below which a peer has never computed: hivemind begins with 1e-20. A peer on hold reports 0."""
_SLACK = 3.0
"""Seconds that a report may take, or clocks may differ."""


class SwarmProgressTracker(ProgressTracker):
    """Adds the swarm's speed, a pause that peers see, auxiliary peers, and steps at the exact batch for fixed data.

    Parameters:
        extrapolate: hivemind lets a peer begin an update at the *estimated* end of the epoch, so that nobody waits for
            reports; False waits until the samples are really reported.
    """

    def __init__(self, *args: Any, extrapolate: bool = True, **kwargs: Any) -> None:
        self._extrapolate = extrapolate
        self._held = False
        self.swarm_samples_per_second = 0.0
        self.reported_epoch: int | None = None
        """The highest epoch that another trainer works on; None if there is none."""
        self.other_trainers = 0
        """Other peers that add samples."""
        self.expected_members = 1
        """Of the next averaging group: this peer, and all others that reported lately and are not far behind."""
        self.others_can_be_reached = False
        """Whether another peer listens. Those that only call others can neither lead a group nor give their state."""
        super().__init__(*args, **kwargs)

    @property
    def ready_to_update_epoch(self) -> bool:
        if self._extrapolate:
            return bool(super().ready_to_update_epoch)
        progress = self.global_progress
        return bool(
            progress.epoch > self.local_progress.epoch or progress.samples_accumulated >= self.target_batch_size
        )

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

    def hold(self, held: bool, samples_accumulated: int) -> None:
        """Report that this peer stops adding samples, or goes on with those it had.

        Without it the others extrapolate this peer's speed until its record expires, and begin rounds too early.
        """
        self._held = held
        self.report_unmeasured(self.local_progress.epoch, 0 if held else samples_accumulated)

    def report_unmeasured(self, epoch: int, samples: int) -> None:
        """Report samples that were computed some time ago: counted as new, they would change this peer's speed."""
        ema = self.performance_ema
        measured = ema.ema_seconds_per_sample, ema.num_updates, ema.samples_per_second
        self.report_local_progress(epoch, samples)
        ema.ema_seconds_per_sample, ema.num_updates, ema.samples_per_second = measured
        self.local_progress: LocalTrainingProgress = self._get_local_progress(epoch, samples)

    def _get_local_progress(self, local_epoch: int, samples_accumulated: int) -> LocalTrainingProgress:
        progress = super()._get_local_progress(local_epoch, samples_accumulated)
        return progress.copy(update={"samples_per_second": 0.0}) if self._held else progress

    def _parse_swarm_progress_data(self, metadata: Any) -> GlobalTrainingProgress:
        progress = super()._parse_swarm_progress_data(metadata)
        entries = metadata.values() if isinstance(metadata, dict) else ()
        peers = [entry.value for entry in entries if entry.value is not None]
        self.swarm_samples_per_second = sum(peer["samples_per_second"] for peer in peers)
        # hivemind counts the records it finds. A newcomer whose own is not among them yet would take one other peer for
        # itself, believe it is alone, and step alone; and rounds would wait in vain for a peer that is on hold.
        own = self.dht.peer_id.to_bytes()
        others = [peer for peer in peers if peer["peer_id"] != own]
        trainers = [peer for peer in others if adds_samples(peer)]
        partners = [*trainers, *(peer for peer in others if is_auxiliary(peer))]
        progress.num_peers = 1 + len(partners)
        self.expected_members = 1 + sum(self._is_expected(peer) for peer in partners)
        self.other_trainers = len(trainers)
        self.reported_epoch = max((int(peer["epoch"]) for peer in trainers), default=None)
        self.others_can_be_reached = any(not peer["client_mode"] for peer in partners)
        return progress

    def _is_expected(self, progress: Mapping[str, Any]) -> bool:
        """hivemind's peers report at least twice until their record expires. One an epoch behind is about to follow."""
        is_alive = get_dht_time() - progress["time"] < self.metadata_expiration / 2 + _SLACK
        return is_alive and bool(progress["epoch"] >= self.local_progress.epoch - 1)


def adds_samples(progress: Mapping[str, Any]) -> bool:
    """Whether a record of progress is of a peer that computes: neither auxiliary nor on hold."""
    return bool(progress["samples_per_second"] > _NO_SPEED or progress["samples_accumulated"] > 0)


def is_auxiliary(progress: Mapping[str, Any]) -> bool:
    """Whether a record of progress is of a peer that averages with the others and adds no samples."""
    return bool(0 < progress["samples_per_second"] <= _NO_SPEED and progress["samples_accumulated"] == 0)
