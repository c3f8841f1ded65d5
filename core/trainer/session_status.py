"""The status of a session: a report is made when the reporter asks for one; only `enter` changes it."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from core.api.session import Report, Stage
from core.api.snapshot import CatchUp, Progress, Reachability, Transfer
from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.connectivity.reachability import CALLABLE
from core.swarm.traffic.link import Link
from core.swarm.traffic.meter import RateWatch
from core.trainer.counters import SessionCounters
from core.trainer.machine.memory_guard import MemoryGuard
from core.trainer.machine.processor_time import ProcessorTime


class Measurements:
    """Measurements from the process's start to its end."""

    def __init__(self, link: Link) -> None:
        self.counters = SessionCounters(ProcessorTime().read)
        self.memory = MemoryGuard()
        self.meter = link.meter
        self.rates = RateWatch(link.meter)


@dataclass(frozen=True)
class Situation:
    """The stage of the session. It is replaced as a whole."""

    stage: Stage
    transfer: Transfer | None = None
    catching_up: CatchUp | None = None
    cut_off: bool = False


class BeforeJoining:
    """The run as a report describes it before the session has joined it."""

    min_bandwidth = 0
    """Bytes per second that the run's rounds need; 0: not known yet."""

    @property
    def reachability(self) -> Reachability | None:
        return None

    def __init__(self, target_batch_size: int) -> None:
        self._target_batch_size = target_batch_size

    def progress(self, _counters: SessionCounters, _samples: int) -> Progress:
        return Progress(target_batch_size=self._target_batch_size)

    def refined(self, situation: Situation) -> Situation:
        """The situation, completed by a state transfer that is under way."""
        return situation


class Joined(BeforeJoining):
    """The run as the optimizer sees it."""

    def __init__(
        self,
        optimizer: CollaborativeOptimizer,
        target_batch_size: int,
        min_bandwidth: int,
        reachability: Callable[[], Reachability | None] = lambda: None,
    ) -> None:
        super().__init__(target_batch_size)
        self._optimizer, self.min_bandwidth, self._reachability = optimizer, min_bandwidth, reachability

    @property
    def reachability(self) -> Reachability | None:
        return self._reachability()

    @property
    def has_lost_its_port(self) -> bool:
        """Whether others still try to call this peer and cannot reach it."""
        return not self._optimizer.client_mode and self.reachability not in (None, *CALLABLE)

    @property
    def peers(self) -> int:
        return 1 + int(self._optimizer.tracker.other_trainers)

    @property
    def samples_per_second(self) -> float:
        """Of this peer."""
        return float(self._optimizer.tracker.performance_ema.samples_per_second)

    def progress(self, counters: SessionCounters, samples: int) -> Progress:
        optimizer = self._optimizer
        return Progress(
            epoch=optimizer.local_epoch,
            samples=samples,
            loss=counters.loss,
            peers=self.peers,
            samples_per_second=self.samples_per_second,
            swarm_samples_per_second=optimizer.tracker.swarm_samples_per_second,
            epoch_samples=max(0, optimizer.tracker.global_progress.samples_accumulated),
            own_epoch_samples=optimizer.own_samples,
            target_batch_size=self._target_batch_size,
            phase=optimizer.phase,
        )

    def refined(self, situation: Situation) -> Situation:
        optimizer, averager = self._optimizer, self._optimizer.state_averager
        if situation.stage == "contributing" and averager.is_receiving:
            # It fell behind, and hivemind's step fetches the state without saying so.
            situation = Situation("syncing", None, CatchUp(optimizer.local_epoch, optimizer.tracker.global_epoch))
        if situation.stage == "syncing":
            received = Transfer(averager.state_received, optimizer.run_state.size)
            situation = Situation("syncing", received, situation.catching_up)
        return situation


class SessionStatus:
    """The training loop calls `enter`, the reporter's thread calls `report`.

    Parameters:
        on_enter: called at each change of stage.
    """

    def __init__(
        self,
        measurements: Measurements,
        run: BeforeJoining,
        stage: Stage,
        on_enter: Callable[[], None] = lambda: None,
    ) -> None:
        self._measured, self._run, self._on_enter = measurements, run, on_enter
        self._situation = Situation(stage)

    def enter(
        self,
        stage: Stage,
        *,
        transfer: Transfer | None = None,
        catching_up: CatchUp | None = None,
        cut_off: bool = False,
    ) -> None:
        before, self._situation = self._situation, Situation(stage, transfer, catching_up, cut_off)
        if stage != before.stage:
            self._on_enter()

    def report(self) -> Report:
        now, measured = time.monotonic(), self._measured
        situation = self._run.refined(self._situation)
        counters = measured.counters.counters(now, measured.meter.by_kind())
        progress = self._run.progress(measured.counters, counters.samples)
        if situation.stage != "contributing":
            # hivemind keeps the speed of the last microbatch for the next one; meanwhile nothing computes.
            progress = msgspec.structs.replace(progress, samples_per_second=0.0)
        return Report(
            situation.stage,
            progress,
            measured.rates.read(now),
            counters,
            situation.transfer,
            situation.catching_up,
            situation.cut_off,
            self._run.min_bandwidth,
            measured.memory.held,
            measured.memory.held_at,
            self._run.reachability,
        )
