"""hivemind's optimizer, made of a run's own tracker and averagers."""

from collections.abc import Callable, Mapping
from typing import Any

import hivemind
from hivemind.averaging.control import StepControl
from hivemind.p2p import PeerID
from hivemind.utils import get_dht_time

from core.swarm.averaging.gradient_averager import EpochGradientAverager
from core.swarm.averaging.group import Group
from core.swarm.averaging.group_formation import Expected, count_of_groups
from core.swarm.averaging.state_averager import CheckedStateAverager, state_prefix
from core.swarm.connectivity.backbone_monitor import BackboneMonitor
from core.swarm.dht.progress.progress_tracker import SwarmProgressTracker
from core.swarm.state.sketch import COARSE, FINE, Tolerance
from core.swarm.trust.distrust import Distrust, Drop

_NEVER = 1 << 62


class RunOptimizer(hivemind.Optimizer):
    """What an optimizer of a run consists of; `CollaborativeOptimizer` says when it steps.

    Parameters beside hivemind's own:
        backbone: the run's backbone.
        extrapolate: see `SwarmProgressTracker`.
        group_options: of both averagers, as hivemind names them.
        most_members: of a group that this peer leads.
        bytes_per_value: that a number takes when it is averaged.
        on_drop: called with each peer that sent broken data, or fell silent again, when it is taken no more.
    """

    tracker: SwarmProgressTracker
    grad_averager: EpochGradientAverager
    state_averager: CheckedStateAverager
    scheduled_grads: StepControl | None
    scheduled_state: StepControl | None
    _adds_samples = True
    _averages = True
    is_banned = False
    """Whether the organiser has banned this peer."""

    def __init__(
        self,
        *,
        backbone: BackboneMonitor,
        extrapolate: bool,
        group_options: dict[str, Any],
        bytes_per_value: int,
        most_members: int | None = None,
        on_drop: Callable[[Drop], None] = lambda _: None,
        **options: Any,
    ) -> None:
        self._backbone, self._extrapolate, self._group_options = backbone, extrapolate, group_options
        self._bytes_per_value, self._most_members = bytes_per_value, most_members
        self.distrust = Distrust(on_drop, spared=[str(peer) for peer in backbone.peers])
        backbone.on_bans = self._follow_bans
        self._stepping = False
        """Whether an update is being made."""
        self._group = Group(())
        """Of this update or, between two, of the last one; empty until its gradients are averaged."""
        super().__init__(**options)

    def _make_progress_tracker(self, target_batch_size: int, **options: Any) -> SwarmProgressTracker:
        return SwarmProgressTracker(
            dht=self.dht,
            prefix=self.run_id,
            target_batch_size=target_batch_size,
            client_mode=self.client_mode,
            status_loglevel=self.status_loglevel,
            extrapolate=self._extrapolate,
            organiser=lambda: self._backbone.run_epoch,
            validated=lambda: self._backbone.validated,
            refused=lambda: self.distrust.peers(get_dht_time()),
            start=True,
            **options,
        )

    def _make_gradient_averager(self, _factory: None, **options: Any) -> EpochGradientAverager:
        def make(**more: Any) -> EpochGradientAverager:
            options = {**more, "start": self._averages, "adds_samples": self._adds_samples, **self._group_options}
            return EpochGradientAverager(
                epoch=lambda: self.local_epoch,
                expected=self._expected,
                most_members=self._most_members,
                distrust=self.distrust,
                weight_limits=lambda: self.tracker.weight_limits(self.batch_size_per_step or 1),
                **options,
            )

        averager: EpochGradientAverager = super()._make_gradient_averager(make, **options)
        return averager

    def _make_state_averager(self, **options: Any) -> CheckedStateAverager:
        return CheckedStateAverager(
            dht=self.dht,
            prefix=state_prefix(self.run_id),
            min_matchmaking_time=self.matchmaking_time,
            allreduce_timeout=self.allreduce_timeout,
            shutdown_timeout=self.shutdown_timeout,
            offload_optimizer=self.offload_optimizer,
            custom_gradients=self.offload_optimizer,
            status_loglevel=self.status_loglevel,
            next_chunk_timeout=self.next_chunk_timeout,
            client_mode=self.client_mode,
            auxiliary=self.auxiliary,
            start=True,
            expected=self._expected_for_state,
            vouches=self._averages,
            distrust=self.distrust,
            **self._group_options,
            **options,
        )

    def _expected(self) -> Expected:
        tracker = self.tracker
        return Expected(
            tracker.expected_peers, tracker.callable_peers, () if self._adds_samples else tracker.auxiliary_peers
        )

    def _follow_bans(self, bans: Mapping[bytes, float]) -> None:
        now = get_dht_time()
        self.is_banned = self.dht.peer_id.to_bytes() in bans
        for peer, until in bans.items():
            self.distrust.ban(str(PeerID(peer)), "banned_by_organiser", until, now)

    def _expected_for_state(self) -> Expected:
        """During an update, those who have averaged their gradients for it: all of them, and nobody else, then average
        their state. Who is left out of that would hold up everybody's next update."""
        expected = self._expected()
        if not (self._stepping and self._group.nonces):
            return expected
        others = self._group.peers - {self.dht.peer_id.to_bytes()}
        return Expected({peer: expected.reports.get(peer, 0.0) for peer in others}, leaders=())

    @property
    def is_one_group(self) -> bool:
        """Whether all peers average together."""
        leaders = len(self.tracker.callable_peers) + (not self.client_mode)
        size = self._group_options["target_group_size"]
        return count_of_groups(int(self.tracker.global_progress.num_peers), leaders, size) == 1

    @property
    def _tolerance(self) -> Tolerance:
        """How far the states of two peers may be apart: those of different groups differ by whole updates."""
        return FINE if self.is_one_group else COARSE

    @property
    def bytes_per_update(self) -> float:
        """That this peer averages, in the mean of many updates."""
        values = self.grad_averager.total_size + self.state_averager.total_size / self.average_state_every
        return float(values * self._bytes_per_value)

    @property
    def average_state_every(self) -> int:
        """Epochs between two averagings of parameters and optimizer state.

        Where all average together, they make each update of the same bits and have the same state, and fork detection
        brings back a peer that has not: averaging it would cost a second round and change its last bits.
        """
        return _NEVER if self.is_one_group else self._average_state_every

    @average_state_every.setter
    def average_state_every(self, epochs: int) -> None:
        self._average_state_every = epochs
