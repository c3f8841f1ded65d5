"""What the session gives, counted as it happens; read by the reporter's thread, written by the training loop."""

import threading
import time

from core.api.session import Counters
from core.swarm.optimizer import Update


class Ledger:
    """Counters and the running loss. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._samples = self._rounds = self._failed_rounds = self._epochs = 0
        self._loss_sum = 0.0
        self._loss_samples = 0
        self._epoch_loss: float | None = None
        self._gpu_seconds = 0.0
        self.joules: float | None = None
        """What the GPU took, None where it does not tell."""
        self._seconds = 0.0
        self._since: float | None = None

    def begin(self, now: float) -> None:
        """The session computes from now on (steady clock)."""
        with self._lock:
            self._since = now

    def end(self, now: float) -> None:
        """The session computes no longer."""
        with self._lock:
            self._seconds += self._running(now)
            self._since = None

    def add_microbatch(self, samples: int, loss: float, gpu_seconds: float = 0.0) -> None:
        with self._lock:
            self._gpu_seconds += gpu_seconds
            self._samples += samples
            self._loss_sum += loss * samples
            self._loss_samples += samples

    def add_update(self, update: Update) -> float | None:
        """Close an epoch; returns the mean loss of this peer's samples in it."""
        with self._lock:
            if update.own_samples:
                self._epochs += 1
                self._rounds += update.group_size > 1
            loss = self._mean_loss()
            if loss is not None:
                self._epoch_loss = loss
            self._forget_loss()
            return loss

    def add_failed_round(self) -> None:
        with self._lock:
            self._failed_rounds += 1
            self._forget_loss()

    @property
    def loss(self) -> float | None:
        """Of the last finished epoch, or the running one before the first."""
        with self._lock:
            return self._epoch_loss if self._epoch_loss is not None else self._mean_loss()

    def counters(self, now: float) -> Counters:
        with self._lock:
            return Counters(
                samples=self._samples,
                rounds=self._rounds,
                failed_rounds=self._failed_rounds,
                epochs=self._epochs,
                seconds=self._seconds + self._running(now),
                cpu_seconds=time.process_time(),
                gpu_seconds=self._gpu_seconds,
                joules=self.joules,
            )

    def _running(self, now: float) -> float:
        return now - self._since if self._since is not None else 0.0

    def _mean_loss(self) -> float | None:
        return self._loss_sum / self._loss_samples if self._loss_samples else None

    def _forget_loss(self) -> None:
        self._loss_sum, self._loss_samples = 0.0, 0
