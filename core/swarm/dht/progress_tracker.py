"""How far the collaboration is: hivemind's progress tracker, with what a volunteer's window and a pause need."""

from collections.abc import Mapping
from typing import Any

from hivemind.optim.progress_tracker import GlobalTrainingProgress, LocalTrainingProgress, ProgressTracker


class SwarmProgressTracker(ProgressTracker):
    """Adds the swarm's speed, a pause that peers see, and steps at the exact batch for fixed data.

    Parameters:
        extrapolate: hivemind lets a peer begin an update at the *estimated* end of the epoch, so that nobody waits for
            news; False waits until the samples are really reported.
    """

    def __init__(self, *args: Any, extrapolate: bool = True, **kwargs: Any) -> None:
        self._extrapolate = extrapolate
        self._held = False
        self.swarm_samples_per_second = 0.0
        self.reported_epoch: int | None = None
        """The highest epoch that another peer works on; None if nobody does."""
        self.others_can_be_reached = False
        """Whether another peer listens. Those who only call others can neither make a group nor give their state."""
        super().__init__(*args, **kwargs)

    @property
    def ready_to_update_epoch(self) -> bool:
        if self._extrapolate:
            return bool(super().ready_to_update_epoch)
        progress = self.global_progress
        return bool(
            progress.epoch > self.local_progress.epoch or progress.samples_accumulated >= self.target_batch_size
        )

    def look_again(self) -> None:
        """Read the others' progress now, on this thread."""
        with self.lock_global_progress:
            self.global_progress = self._news()

    def others_are_ahead(self) -> bool:
        """Whether the run is in a later epoch now. To be asked during a round, in which hivemind hears no news."""
        return bool(self._news().epoch > self.local_progress.epoch)

    def _news(self) -> GlobalTrainingProgress:
        found = self.dht.get(self.training_progress_key, latest=True)
        return self._parse_swarm_progress_data(found.value if found is not None else None)

    def hold(self, held: bool, samples_accumulated: int) -> None:
        """Tell the peers that this one stops adding samples, or goes on with those it had.

        Without it they extrapolate this peer's speed until its record expires, and begin rounds too early.
        """
        self._held = held
        epoch, samples = self.local_progress.epoch, 0 if held else samples_accumulated
        ema = self.performance_ema
        measured = ema.ema_seconds_per_sample, ema.num_updates, ema.samples_per_second
        self.report_local_progress(epoch, samples)
        # What comes back was computed before the pause: as news it would make this peer as slow as the pause was long.
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
        others = [peer for peer in peers if peer["peer_id"] != own and is_active(peer)]
        progress.num_peers = 1 + len(others)
        self.reported_epoch = max((int(peer["epoch"]) for peer in others), default=None)
        self.others_can_be_reached = any(not peer["client_mode"] for peer in others)
        return progress


def is_active(progress: Mapping[str, Any]) -> bool:
    """Whether a published record of progress is of a peer that adds samples, not of one on hold."""
    return bool(progress["samples_per_second"] > 0 or progress["samples_accumulated"] > 0)
