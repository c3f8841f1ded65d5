"""What the session contributes, counted as it happens; read by the reporter's thread, written by the training loop."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping

from core.api.session import Counters
from core.conditions.energy import Joules
from core.swarm.averaging.group import Update
from core.swarm.traffic.meter import Kind


class SessionCounters:
    """Counters and the running loss. Thread-safe."""

    def __init__(self, processor_time: Callable[[], float] = time.process_time) -> None:
        """`processor_time` returns the seconds that all processes of the session have computed."""
        self._processor_time = processor_time
        self._lock = threading.Lock()
        self._totals: Counter[str] = Counter()
        """By name in `Counters`."""
        self._loss_sum = 0.0
        self._loss_samples = 0
        self._epoch_loss: float | None = None
        self._gpu_seconds = 0.0
        self._peers: set[str] = set()
        self._flops_per_sample: float | None = None
        self.joules = Joules()
        self._seconds = 0.0
        self._since: float | None = None

    def begin(self, now: float) -> None:
        """The session computes from now on (steady clock)."""
        with self._lock:
            self._since = now

    def end(self, now: float) -> None:
        with self._lock:
            self._seconds += self._running(now)
            self._since = None

    def add_microbatch(
        self, samples: int, loss: float, gpu_seconds: float = 0.0, flops_per_sample: float | None = None
    ) -> None:
        with self._lock:
            self._flops_per_sample = flops_per_sample
            self._gpu_seconds += gpu_seconds
            self._totals["samples"] += samples
            self._loss_sum += loss * samples
            self._loss_samples += samples

    def add_update(self, update: Update) -> float | None:
        """Close an epoch; returns the mean loss of this peer's samples in it."""
        with self._lock:
            if update.own_samples:
                self._totals["epochs"] += 1
                self._totals["rounds"] += update.group_size > 1
                self._totals["accepted"] += update.own_samples
                self._peers |= update.partners
            loss = self._mean_loss()
            if loss is not None:
                self._epoch_loss = loss
            self._forget_loss()
            return loss

    def add_failed_round(self) -> None:
        with self._lock:
            self._totals["failed_rounds"] += 1
            self._forget_loss()

    @property
    def loss(self) -> float | None:
        """Mean loss of the last finished epoch; before the first, of the present one."""
        with self._lock:
            return self._epoch_loss if self._epoch_loss is not None else self._mean_loss()

    def counters(self, now: float, traffic: Mapping[Kind, tuple[int, int]] | None = None) -> Counters:
        """`traffic` is bytes up and down by kind."""
        bytes_by_kind = {
            f"{kind}_{direction}": size
            for kind, sizes in (traffic or {}).items()
            for direction, size in zip(("up", "down"), sizes, strict=True)
        }
        cost = self._flops_per_sample
        with self._lock:
            return Counters(
                seconds=self._seconds + self._running(now),
                cpu_seconds=self._processor_time(),
                gpu_seconds=self._gpu_seconds,
                joules=self.joules.measured,
                processor_joules=self.joules.processor,
                estimated_joules=self.joules.estimated,
                flops=None if cost is None else cost * self._totals["samples"],
                peers_met=len(self._peers),
                **self._totals,
                **bytes_by_kind,
            )

    def _running(self, now: float) -> float:
        return now - self._since if self._since is not None else 0.0

    def _mean_loss(self) -> float | None:
        return self._loss_sum / self._loss_samples if self._loss_samples else None

    def _forget_loss(self) -> None:
        self._loss_sum, self._loss_samples = 0.0, 0
