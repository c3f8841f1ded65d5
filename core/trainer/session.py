"""One session: catch up, contribute, leave. `core.trainer.build` builds it."""

import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import torch

from core.api.errors import WorldError
from core.api.session import EpochDone
from core.api.session_settings import SessionSettings
from core.swarm.averaging.group import Update
from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.dht.contributions import Publisher, Round
from core.swarm.errors import Interrupted, Isolated, RoundFailed, StateUnavailable
from core.swarm.liveness import Liveness
from core.system import freed_memory
from core.trainer.control import Control
from core.trainer.machine.device import cap_memory
from core.trainer.machine.throttle import Throttle
from core.trainer.microbatch import Microbatches, Stopped
from core.trainer.peer_validation import NoPeerValidation, PeerValidation
from core.trainer.reporter import Reporter
from core.trainer.session_status import Joined, Measurements, SessionStatus
from core.trainer.state_sync import StateSync

log = logging.getLogger(__name__)

_ALONE_FOR = 60.0
"""Seconds within which another peer must be reachable again."""
_HELD_PERIOD = 0.25
"""Seconds between two checks, while held, whether the search for a round has begun again."""


@dataclass
class Session:
    """A peer of its run, with all its parts. Not reusable, because hivemind's processes end with it."""

    optimizer: CollaborativeOptimizer
    microbatches: Microbatches
    peer_validation: PeerValidation | NoPeerValidation
    state_sync: StateSync
    throttle: Throttle
    run: Joined
    status: SessionStatus
    measurements: Measurements
    control: Control
    reporter: Reporter
    publisher: Publisher
    liveness: Liveness
    device: torch.device
    applied: SessionSettings
    """The settings now in effect for threads, GPU memory and optimizer."""

    def contribute(self) -> None:
        """Return once the engine says Leave or ends.

        Raises:
            IdlehiveError: the session cannot continue.
        """
        self.state_sync.begin()
        log.info("start: state ready")
        self._start_counting()
        while not self.control.leaving.is_set():
            if self.run.has_lost_its_port:
                raise WorldError("port_lost")
            if self.optimizer.is_banned:
                raise WorldError("banned_from_run")
            if self.control.held:
                self._hold()
                continue
            with suppress(Stopped):
                self._compute(self._apply_settings())
        self.optimizer.end_round()
        self.measurements.counters.end(time.monotonic())

    def _compute(self, settings: SessionSettings) -> None:
        """One microbatch, and what follows from it.

        Raises:
            Stopped: a command asks to stop computing.
        """
        counters = self.measurements.counters
        self.optimizer.grad_averager.lend()
        done = self.microbatches.compute(self.optimizer.local_epoch, settings.latency_target)
        gpu_seconds = done.seconds if settings.gpu else 0.0
        if not self.state_sync.is_good(done.loss):
            self.optimizer.zero_grad()
            return
        counters.add_microbatch(done.samples, done.loss, gpu_seconds, done.flops_per_sample)
        self._with_peers(partial(self.optimizer.step_with, done.piece))
        self.optimizer.zero_grad()
        if not settings.latency_target:
            # Others may have computed more at once than this peer may.
            self.peer_validation.step()
        self._rest(done.seconds)
        counters.joules = self.throttle.joules
        self.state_sync.copy_if_due()

    def on_update(self, update: Update) -> None:
        """Count and report a step of the collaboration."""
        loss = self.measurements.counters.add_update(update)
        log.info("epoch %d: %d own samples, %d in the group", update.epoch, update.own_samples, update.group_size)
        self.reporter.send(EpochDone(update.epoch, loss, update.own_samples, self.run.peers, time.time()))
        if update.own_samples:
            settings, speed = self.control.settings, self.run.samples_per_second
            done = Round(update.epoch, update.own_samples, loss)
            self.publisher.publish(done, speed, wanted=settings.publish_contributions, name=settings.display_name)

    def leave(self) -> Callable[[], None]:
        """Copy the state before the averagers end; call the result to write it."""
        # If a part has ended, errors of the loop are consequences, and that part cannot be shut down.
        self.liveness.end_if_missing()
        if self.control.leaving.is_set():
            # Last: for a failed session, the engine would take this stage for an end without a reason.
            self.status.enter("leaving")
        return self.state_sync.last_copy()

    def _rest(self, busy: float) -> None:
        """Rest as the limits require. Rounds continue: they cost little, and other peers need this one."""
        while not self.control.interrupted:
            seconds = self.throttle.rest(self.control.settings.limits, torch.get_num_threads(), busy)
            if not seconds:
                return
            self.control.pause(seconds)
            self._with_peers(self.optimizer.follow)
            busy = 0.0

    def _with_peers(self, act: Callable[[], None]) -> None:
        """Do something in which the other peers may take part."""
        epoch = self.optimizer.local_epoch
        try:
            act()
        except Interrupted as error:
            log.info("epoch %d: %s", epoch, error)
        except RoundFailed as error:
            self.measurements.counters.add_failed_round()
            log.warning("epoch %d: %s", epoch, error)
            if act != self.optimizer.follow and not self.control.interrupted:
                # At once, like the other peers: after another microbatch, their group would be complete.
                self._with_peers(self.optimizer.follow)
        except Isolated as error:
            self._wait_for_peers(error)
        except StateUnavailable as error:
            log.warning("out of step: %s", error)
            self.state_sync.catch_up()

    def _wait_for_peers(self, error: Isolated) -> None:
        """Compute nothing until a peer can be reached. Accumulated samples count if the epoch is still the same.

        Raises:
            Isolated: no peer was reached in time; only a new session contacts the backbone again.
        """
        log.warning("epoch %d: %s", self.optimizer.local_epoch, error)
        self.measurements.counters.end(time.monotonic())
        self.status.enter("joining", cut_off=True)
        give_up = time.monotonic() + _ALONE_FOR
        while not self.control.interrupted and not self.optimizer.isolation.is_connected:
            if time.monotonic() > give_up:
                raise error
            self.control.pause(1.0)
        self.status.enter("contributing")
        self._start_counting()

    def _hold(self) -> None:
        self.measurements.counters.end(time.monotonic())
        self.status.enter("holding")
        self.optimizer.hold()
        freed_memory.give_back()
        while self.control.wait_while_held(_HELD_PERIOD):
            self.optimizer.give_up_rounds()
        if not self.control.leaving.is_set():
            self.optimizer.resume()
            self.status.enter("contributing")
            self._start_counting()

    def _start_counting(self) -> None:
        self.measurements.counters.begin(time.monotonic())
        self.throttle.begin()

    def _apply_settings(self) -> SessionSettings:
        settings = self.control.settings
        if settings != self.applied:
            if settings.limits.memory_limit != self.applied.limits.memory_limit:
                self.microbatches.find_size()
            self.applied = settings
            apply_settings(settings, self.device)
        self.measurements.memory.check_beside(settings.limits.memory_limit)
        return settings


def apply_settings(settings: SessionSettings, device: torch.device) -> None:
    """Apply the limits on threads and GPU memory."""
    torch.set_num_threads(settings.limits.threads_on(os.cpu_count() or 2))
    cap_memory(device, settings.limits.gpu_memory)
