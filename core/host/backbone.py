"""The organiser's always-on peer: first contact for newcomers, and a watch over the run."""

import logging
import math
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from hivemind import DHT
from hivemind.p2p import PeerID

from core.api.errors import WorldError
from core.api.message import Message
from core.api.project.manifest import Manifest
from core.api.session_settings import SessionSettings
from core.host.auxiliary_peer import AuxiliaryPeer
from core.host.companion import Companion
from core.host.contributions.audit import Audit
from core.host.contributions.auditor import ContributionAuditor
from core.host.contributions.store import ContributionStore
from core.host.control import EvaluationStopped
from core.host.curve import Curve
from core.host.loss_jump import JumpDetector
from core.host.project import Host
from core.host.validation import Validation
from core.host.web.published import DroppedPeer, Jump, PublishedRun, RunStatus
from core.learning import checkpoints
from core.swarm.dht.organiser import LONGEST_BAN, RunRecordPublisher
from core.swarm.dht.progress.run_monitor import RunProgress
from core.swarm.state.checks import State
from core.swarm.state.metadata_text import from_text, to_text
from core.swarm.trust.distrust import Drop
from core.swarm.trust.validation import Evidence

log = logging.getLogger(__name__)

_FIRST_BAN = 3600.0
"""Seconds; each further one of the same peer lasts twice as long."""


@dataclass
class Backbone:
    """Polls the run: each `poll` reads its progress, sets the companion to work and evaluates its state."""

    dht: DHT
    manifest: Manifest
    settings: Host
    checkpoint_folder: Path
    curve: Curve
    published: PublishedRun
    store: ContributionStore
    auxiliary: AuxiliaryPeer
    record: RunRecordPublisher
    companion: Companion | None = None
    progress: RunProgress = field(default_factory=RunProgress)

    def __post_init__(self) -> None:
        manifest, knows_rounds = self.manifest, self.auxiliary.averages
        audit = Audit(self.store, self.curve, manifest.run_id, manifest.training, knows_rounds=knows_rounds)
        self.auxiliary.on_update = lambda made: audit.add_round(
            made.epoch, made.slots, may_be_others=not self.auxiliary.is_one_group
        )
        self.auxiliary.on_drop = self._pass_on
        self.auditor = ContributionAuditor(
            self.dht,
            manifest.run_id,
            audit,
            self.store,
            lambda: self.auxiliary.epoch,
            is_dht_working=self.record.is_found,
        )
        self._audit = audit
        self._last_checkpoint = self._last_evaluation = 0
        self._jumps = JumpDetector()
        self._jump: Jump | None = None
        self._held = False
        self._bans = Counter[bytes]()
        self._lock = threading.Lock()

    def resume(self) -> None:
        """Offer newcomers the run as the last checkpoint has it, until trainers have a newer state."""
        checkpoint = checkpoints.latest(self.checkpoint_folder, self.manifest.run_id)
        if checkpoint is None:
            return
        self.auxiliary.restore(from_text(checkpoint.epoch, checkpoint.metadata), checkpoint.tensors)
        self._last_checkpoint = self._last_evaluation = checkpoint.epoch
        self._jumps = JumpDetector(self.curve.evaluation_loss(checkpoint.epoch))
        log.info("%s", Message("host_resumed", {"epoch": checkpoint.epoch}))

    def hold(self, held: bool) -> None:
        """Compute nothing while `held`; peers can still reach this one. May be called from any thread."""
        with self._lock:
            self._held = self.auditor.held = held
            self.auxiliary.hold(held)
            self._update_companion()

    def validate_by(self, validation: Validation) -> None:
        """From now on. To be called before the auxiliary peer is started."""
        validation.on_verdict, validation.on_guilty = self._note_verdict, self._ban_guilty
        validation.on_silent = self._ban
        self.auxiliary.validation = validation
        validation.start()

    def _note_verdict(self, evidence: Evidence, _deviation: float, is_good: bool) -> None:
        if is_good:
            self.record.add_validated(PeerID.from_base58(evidence.peer).to_bytes())

    def _pass_on(self, drop: Drop) -> None:
        """Who has given the backbone a wrong average, and again when it was taken back, is left out by all for as long
        as by the backbone: who gives a wrong one to this peer alone is found by nobody else."""
        if drop.offence == "average_wrong" and drop.is_repeated:
            self.record.ban(PeerID.from_base58(drop.peer).to_bytes(), drop.at + drop.seconds)

    def _ban_guilty(self, evidence: Evidence) -> None:
        """A trainer brought something else than its samples give: it gets no credit for its latest rounds, either. What
        it did to the model stays: no average can be undone. From any thread."""
        self._ban(evidence)
        self._audit.disown(PeerID.from_base58(evidence.peer).to_bytes())

    def _ban(self, evidence: Evidence) -> None:
        """All leave a trainer out whose work cannot be validated. From any thread."""
        now, peer = time.time(), PeerID.from_base58(evidence.peer).to_bytes()
        self._bans[peer] = self._bans.get(peer, 0) + 1
        until = now + min(LONGEST_BAN / 2, _FIRST_BAN * 2 ** (self._bans[peer] - 1))
        self.auxiliary.ban(evidence.peer, until, now)
        self.record.ban(peer, until)
        log.error("%s", Message("host_banned", {"epoch": evidence.epoch, "peer": evidence.peer}))

    def apply_to_companion(self, settings: SessionSettings) -> None:
        """What the companion may use of this computer, live. May be called from any thread."""
        if self.companion is not None:
            self.companion.apply(settings)

    def poll(self, now: float) -> None:
        """Show the progress that the auditor has read, let the companion work only beside others, evaluate the state.

        `now` is UTC seconds.
        """
        if self._held:
            return
        self.progress = self.auditor.progress
        self.record.publish(self.auxiliary.epoch, now)
        with self._lock:
            if self.companion is not None:
                self.companion.restart_if_ended()
            self._update_companion()
        epoch = max(self.progress.epoch, self.auxiliary.epoch)
        speed = self.progress.samples_per_second
        dropped = [DroppedPeer(drop.peer, drop.offence, drop.at, drop.seconds) for drop in self.auxiliary.drops(now)]
        self.published.status = RunStatus(
            epoch, len(self.progress.peers), speed, self.auditor.read_at, dropped, self._jump
        )
        if self.auxiliary.epoch - self._last_evaluation >= self.settings.evaluate_every:
            self._evaluate_and_save(now, self.settings.checkpoint_every)

    def close(self) -> None:
        """Shut down in order; the last state is saved, if it is good or there is no time to know."""
        if self.companion is not None:
            self.companion.stop()
        self.auxiliary.stop()
        if self.auxiliary.epoch > self._last_checkpoint:
            try:
                self._evaluate_and_save(time.time(), checkpoint_every=1)
            except EvaluationStopped:
                self._save_checkpoint(self.auxiliary.snapshot())
        self.auxiliary.shutdown()
        self.auditor.close()
        self.dht.shutdown()
        self.curve.close()
        self.store.close()

    def _update_companion(self) -> None:
        if self.companion is not None:
            self.companion.set_working(not self._held and bool(self._others()))

    def _others(self) -> list[bytes]:
        """Peers at work that are not the companion."""
        own = self.companion.identity if self.companion is not None else None
        return [peer for peer in self.progress.peers if own is None or peer != own]

    def _evaluate_and_save(self, now: float, checkpoint_every: int) -> None:
        if self.auxiliary.is_going_back:
            return
        state, found = self.auxiliary.evaluated()
        epoch = self._last_evaluation = int(state[0]["epoch"])
        if found is not None:
            figure = found.figure
            loss = found.loss if math.isfinite(found.loss) else str(found.loss)
            log.info("%s", Message("host_evaluated", {"epoch": epoch, "loss": loss}))
            self.curve.add_evaluation(epoch, found.loss, now, figure)
            if self._jumps.has_jumped(found.loss):
                self._go_back(epoch, found.loss, now)
                return
            if found.demonstration is not None:
                self.curve.show(msgspec.structs.replace(found.demonstration, epoch=epoch, figure=figure))
        if epoch - self._last_checkpoint >= checkpoint_every:
            self._save_checkpoint(state)

    def _go_back(self, epoch: int, loss: float, now: float) -> None:
        """Nothing of this state is kept. With several backbones each would go back to a state of its own."""
        checkpoint = checkpoints.latest(self.checkpoint_folder, self.manifest.run_id)
        if checkpoint is not None and (self.settings.extra_peers or not self._jumps.may_return()):
            checkpoint = None
        before, to_epoch = self._jumps.good, checkpoint.epoch if checkpoint is not None else None
        kind = "host_goes_back" if checkpoint is not None else "host_state_spoilt"
        log.error("%s", Message(kind, {"epoch": epoch, "to_epoch": to_epoch}))
        self._jump = Jump(epoch, loss, before, to_epoch, now)
        if checkpoint is not None:
            self.auxiliary.go_back(from_text(checkpoint.epoch, checkpoint.metadata), checkpoint.tensors)

    def _save_checkpoint(self, state: State) -> None:
        metadata, tensors = state
        try:
            checkpoints.save(
                self.checkpoint_folder,
                self.auxiliary.named(tensors),
                epoch=metadata["epoch"],
                run_id=self.manifest.run_id,
                metadata=to_text(metadata),
                keep=self.settings.keep_checkpoints,
                keep_every=self.settings.keep_every,
            )
        except WorldError as error:
            # The run goes on without it, and the next epoch tries again.
            log.error("%s", error.message)  # noqa: TRY400 - the sentence says all
        else:
            self._last_checkpoint = metadata["epoch"]
