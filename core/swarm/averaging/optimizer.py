"""DeDLOC's training step (NeurIPS 2021, section 3): accumulate, average, step."""

from collections.abc import Callable
from typing import Any

from hivemind.averaging.control import AveragingStage, StepControl
from hivemind.p2p import PeerID

from core.api.snapshot import Phase
from core.learning.order import Piece
from core.swarm.all_reduce.line_worth import LineWorth, Speed
from core.swarm.averaging.accusations import Accusations
from core.swarm.averaging.group import Group, Update, group_of, group_of_one
from core.swarm.averaging.round_control import give_up, has_group, is_searching, phase_of, wait_for_group
from core.swarm.averaging.run_optimizer import RunOptimizer
from core.swarm.averaging.run_state import RunState
from core.swarm.connectivity.backbone_monitor import BackboneMonitor
from core.swarm.connectivity.isolation import IsolationGuard
from core.swarm.dht.work_records import WorkRecords
from core.swarm.errors import Interrupted, RoundFailed
from core.swarm.state.checks import State
from core.swarm.state.fork_detection import ForkDetector


class CollaborativeOptimizer(RunOptimizer):
    """hivemind's optimizer, which here never passes local gradients off as the swarm's.

    Parameters beside those of `RunOptimizer`:
        on_update: called after each step of the collaboration.
        yielding: whether this peer is to stop computing: it then begins no round, and `interrupt` ends a search.
    """

    def __init__(
        self,
        *,
        backbone: BackboneMonitor,
        on_update: Callable[[Update], None],
        yielding: Callable[[], bool],
        **options: Any,
    ) -> None:
        self._on_update, self._yielding = on_update, yielding
        self._gave_up = self._is_alone = False
        super().__init__(backbone=backbone, **options)
        for averager in (self.state_averager, self.grad_averager):
            averager.backbone, averager.tolerance = backbone.peers, lambda: self._tolerance
        self._forks = ForkDetector(
            self.dht,
            self.run_id,
            shares_state=not self.client_mode,
            backbones=self._ids_of_backbones(backbone),
            is_one_group=lambda: self.is_one_group,
        )
        self._forks.start()
        self.work = WorkRecords(self.dht, self.run_id, self.averaging_timeout, self.batch_size_per_step or 1)
        self.accusations = Accusations(self.work, self.dht.peer_id, self.grad_averager.influence, self.distrust)
        backbone.on_silence, backbone.on_word = self.accusations.count, self.accusations.forget
        self.run_state = RunState(
            self.tracker,
            self.grad_averager,
            self.state_averager,
            self._forks,
            share_state=self.share_state,
            stop=yielding,
        )
        self.isolation = IsolationGuard(self.tracker, backbone, client_mode=self.client_mode)
        self._line_worth = LineWorth(self.tracker.target_batch_size)

    # -- the step ------------------------------------------------------------------------------------------------

    def _ids_of_backbones(self, backbone: BackboneMonitor) -> list[bytes]:
        own = [] if self._adds_samples else [self.dht.peer_id.to_bytes()]
        return [*(peer.to_bytes() for peer in backbone.peers), *own]

    def step_with(self, piece: Piece) -> None:
        """See `step`. The gradients are those of the piece, so that others can compute them again."""
        self.grad_averager.next_piece = piece
        self.step(batch_size=piece.count)

    @property
    def own_samples(self) -> int:
        """Accumulated by this peer towards the next update."""
        return int(self.grad_averager.local_samples_accumulated)

    @property
    def phase(self) -> Phase:
        """What the collaboration waits for, seen from this peer. Safe to read from any thread."""
        return phase_of(self.scheduled_grads) if self._stepping else "accumulating"

    def follow(self) -> None:
        """Do what the collaboration asks for without adding samples: load state, join a round, step."""
        self.tracker.report_rest()
        self.state_averager.step(apply_delayed_updates=True)
        if self._should_load_state_from_peers():
            self.load_state_from_peers()
            return
        self._maybe_schedule_gradient_averaging()
        self._maybe_schedule_state_averaging()
        if self.tracker.ready_to_update_epoch:
            self._update_global_epoch(None)

    def _update_global_epoch(self, grad_scaler: Any) -> None:
        if self._yielding():
            return
        self._is_alone = self.isolation.check_if_alone()
        if not self.tracker.ready_to_update_epoch or self._is_alone_too_early():
            return
        if self._missed_the_round() or self.run_state.has_forked:
            self.load_state_from_peers()
            return
        self._gave_up = False
        self._make_update(grad_scaler)

    def _make_update(self, grad_scaler: Any) -> None:
        own_samples = self.grad_averager.samples_of_round
        self._stepping, self._group = True, Group(())
        try:
            super()._update_global_epoch(grad_scaler)
        except RoundFailed:
            self._undo_round()
            raise
        finally:
            self._stepping = False
        self.grad_averager.is_between_rounds = True
        partners = self._group.trainers - {str(self.dht.peer_id)}
        self.tracker.add_round(partners, is_one_group=self.is_one_group, computing_on=self._group.computing_on)
        self.run_state.publish_update()
        slots, slowest = self._group.slots, self._group.slowest_beside(self.dht.peer_id)
        self._on_update(Update(self.local_epoch, own_samples, len(self._group.nonces), partners, slots, slowest))
        if self._adds_samples:
            self._weigh_line()

    def _undo_round(self) -> None:
        self._give_up_round()
        self.grad_averager.drop_rounds()
        self.grad_averager.notify_used_averaged_gradients()
        self.tracker.end_round()
        # Others may have made this update meanwhile.
        self.tracker.refresh()

    def _weigh_line(self) -> None:
        """Leave a run that waits longer for this peer's line than its samples are worth.

        Raises:
            LineTooSlow: it has done so again and again.
        """
        me, others = str(self.dht.peer_id), dict(self._group.lines)
        own = others.pop(self.dht.peer_id.to_bytes(), None)
        own_speed = self.tracker.local_progress.samples_per_second
        others_speed = max(0.0, self.tracker.swarm_samples_per_second - own_speed)
        if own is None:
            return
        partners, computing_on = self._group.trainers - {me}, self._group.computing_on
        self._line_worth.add_round(
            self.bytes_per_update,
            own,
            list(others.values()),
            Speed(own_speed, own_speed if me in computing_on else 0.0),
            # Of each alone nothing is known that it could not make up.
            Speed(others_speed, others_speed * len(computing_on & partners) / max(1, len(partners))),
        )

    def _is_alone_too_early(self) -> bool:
        """The estimate of the epoch's end counts on others, and on samples of some who left."""
        if not self._is_alone or self.tracker.global_epoch > self.local_epoch:
            return False
        return bool(self.own_samples < self.tracker.target_batch_size)

    def _missed_the_round(self) -> bool:
        """Others have already stepped and this peer is in no group: a round joined now could only time out."""
        return bool(self.tracker.global_epoch > self.local_epoch) and not has_group(self.scheduled_grads)

    def _begin_averaging_gradients(self, grad_scaler: Any) -> bool:
        # What members may weigh, as it is known now.
        self.grad_averager.update_expected_peers()
        self.tracker.begin_round()
        self.grad_averager.forget_if_late()
        began = bool(super()._begin_averaging_gradients(grad_scaler))
        if not began and self._has_partners:
            raise RoundFailed("round_not_started")
        if began and self._adds_samples:
            self.work.publish(self.local_epoch, self.grad_averager.pieces_of_round)
        if self._yielding():
            # Asked for just before there was a search to end.
            self.interrupt()
        return began

    def _average_gradients_and_load_into_optimizer(self, maybe_step_control: StepControl | None) -> None:
        if maybe_step_control is not None:
            # While it searches, some peers may leave and others may come.
            wait_for_group(maybe_step_control, self.tracker.others_are_ahead, self.grad_averager.update_expected_peers)
        super()._average_gradients_and_load_into_optimizer(maybe_step_control)
        if maybe_step_control is not None:
            group = group_of(maybe_step_control.result(0), self.local_epoch)
            if group is None:
                raise RoundFailed("round_of_different_epochs")
            self._accept_average_of(group)

    def _load_averaged_gradients_into_optimizer_(self) -> None:
        self.grad_averager.round_average()
        super()._load_averaged_gradients_into_optimizer_()

    def _load_local_gradients_into_optimizer(self) -> None:
        """hivemind falls back to local gradients here, unasked and unseen; with peers around that forks the run."""
        if self._gave_up:
            raise Interrupted("group_search_interrupted")
        if self._has_partners:
            raise RoundFailed("round_incomplete")
        super()._load_local_gradients_into_optimizer()
        self._accept_average_of(group_of_one())

    @property
    def _has_partners(self) -> bool:
        """They may be there although they can no longer be seen: records expire while a group is searched for."""
        return not self._is_alone or self.tracker.sees_others

    def _accept_average_of(self, group: Group) -> None:
        # Before those who came are known to be there: some of them may have fallen silent.
        silent = self.grad_averager.read_offences()
        self.distrust.add_round({str(PeerID(peer)) for peer in group.peers} - silent)
        self.grad_averager.keep_average()
        self.state_averager.nonces, self.state_averager.digests = group.nonces, self.grad_averager.average_digests
        self._group = group
        self.state_averager.update_expected_peers()

    def _give_up_round(self) -> None:
        self.grad_averager.give_up_round(self.scheduled_grads)
        self.scheduled_grads = None

    # -- the run's state -----------------------------------------------------------------------------------------

    def _should_load_state_from_peers(self) -> bool:
        return self.run_state.is_outdated

    def load_state_from_peers(self, **_options: Any) -> None:
        """See `RunState.load`."""
        self._give_up_round()
        self.run_state.load()

    def resume_from(self, state: State, as_epoch: int | None = None) -> None:
        """See `RunState.resume_from`."""
        self._give_up_round()
        self.run_state.resume_from(state, as_epoch)

    def share_state(self, epoch: int) -> None:
        """Offer the state of `epoch` to newcomers, who ask the peer with the highest one first."""
        if not self.client_mode:
            self.state_averager.state_sharing_priority = epoch

    # -- pauses --------------------------------------------------------------------------------------------------

    def hold(self) -> None:
        """Report that this peer adds no samples for a while, and give up its rounds. Does not block."""
        self.give_up_rounds()
        self.tracker.hold(True, self.own_samples)

    def give_up_rounds(self) -> None:
        """Give up every round that has not begun. To be called again while held: a group that breaks up searches for
        another one, and a search costs as much of the processor as training."""
        # Not only what is scheduled: a round of the state goes on in the background.
        self.grad_averager.give_up_round(self.grad_averager.last_round)
        give_up(self.state_averager.last_round)
        self.scheduled_grads = self.scheduled_state = None

    def resume(self) -> None:
        """Count again; samples from before the pause still do if the epoch has not moved on."""
        self.tracker.hold(False, self.own_samples)

    def interrupt(self) -> None:
        """Give up a search for a group that `step` waits for; the step then raises Interrupted. From any thread."""
        control = self.scheduled_grads
        if control is not None and is_searching(control):
            self._gave_up = True
            control.cancel()

    def end_round(self) -> None:
        """Wait for a round that goes on beside the training, and make its update."""

    def shutdown(self) -> None:
        """Leave the run."""
        self._forks.stop()
        super().shutdown()

    def _tag_along_with_zero_weight(self, control: StepControl) -> None:
        # hivemind waits also for a round that the group begins only at the epoch's end. The others then do what they do
        # whenever a member is lost.
        if control.stage == AveragingStage.RUNNING_ALLREDUCE:
            super()._tag_along_with_zero_weight(control)
        else:
            control.cancel()
