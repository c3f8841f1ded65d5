"""How the session stands: written by the training loop, read by the reporter's thread."""

import threading
import time
from collections.abc import Callable, Mapping

import msgspec

from core.api.message import Message
from core.api.session import Counters, Report, Stage
from core.api.snapshot import CatchUp, Progress, Transfer
from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.traffic.meter import Kind, Line, RateWatch
from core.trainer.counters import SessionCounters
from core.trainer.processor_time import ProcessorTime


class SessionStatus:
    """Everything a report says, put together when it is asked for."""

    def __init__(self, target_batch_size: int, line: Line) -> None:
        self.min_bandwidth = 0
        self.memory = 0
        self._meter = line.meter
        self.counters = SessionCounters(ProcessorTime().read)
        self._target_batch_size = target_batch_size
        self._rates = RateWatch(self._meter)
        self._lock = threading.Lock()
        self._stage: Stage = "preparing"
        self._transfer: Transfer | None = None
        self.catching_up: CatchUp | None = None
        self.cut_off = False
        self.remark: Callable[[Message], None] = lambda _message: None
        """Reports something that the volunteer may want to know."""
        self._optimizer: CollaborativeOptimizer | None = None
        self._state_size = 0

    def watch(self, optimizer: CollaborativeOptimizer) -> None:
        self._state_size = optimizer.state_averager.state_size()
        self._optimizer = optimizer

    def enter(self, stage: Stage) -> None:
        with self._lock:
            self._stage = stage
            self._transfer = self.catching_up = None

    def show_transfer(self, done: int, total: int) -> None:
        with self._lock:
            self._transfer = Transfer(done, total)

    @property
    def peers(self) -> int:
        return 1 + self._optimizer.tracker.other_trainers if self._optimizer else 0

    @property
    def samples_per_second(self) -> float:
        return float(self._optimizer.tracker.performance_ema.samples_per_second) if self._optimizer else 0.0

    def report(self) -> Report:
        now = time.monotonic()
        with self._lock:
            stage, transfer, catching_up = self._stage, self._transfer, self.catching_up
        optimizer = self._optimizer
        if optimizer is not None and stage == "contributing" and optimizer.state_averager.is_taking:
            # It fell behind: hivemind's step fetches the state without a word.
            stage, catching_up = "syncing", CatchUp(optimizer.local_epoch, optimizer.tracker.global_epoch)
        if optimizer is not None and stage == "syncing":
            transfer = Transfer(optimizer.state_averager.state_received, self._state_size)
        counters = self._counters(now, self._meter.by_kind())
        progress = self._progress(counters.samples)
        return Report(
            stage,
            progress,
            self._rates.read(now),
            counters,
            transfer,
            catching_up,
            self.cut_off,
            self.min_bandwidth,
            self.memory,
        )

    def _counters(self, now: float, kinds: Mapping[Kind, tuple[int, int]]) -> Counters:
        given = self._optimizer.state_averager.states_given if self._optimizer is not None else 0
        return msgspec.structs.replace(self.counters.counters(now, kinds), states_given=given)

    def _progress(self, samples: int) -> Progress:
        optimizer = self._optimizer
        if optimizer is None:
            return Progress(target_batch_size=self._target_batch_size)
        swarm = optimizer.tracker.global_progress
        return Progress(
            epoch=optimizer.local_epoch,
            samples=samples,
            loss=self.counters.loss,
            peers=self.peers,
            samples_per_second=self.samples_per_second,
            swarm_samples_per_second=optimizer.tracker.swarm_samples_per_second,
            epoch_samples=max(0, swarm.samples_accumulated),
            own_epoch_samples=optimizer.own_samples,
            target_batch_size=self._target_batch_size,
            phase=optimizer.phase,
        )
