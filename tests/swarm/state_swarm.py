"""Real peers in one process that hand the run's state around, and the link that counts their bytes."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch
from hivemind import DHT

from core.api.project.manifest import Optimizer, Schedule
from core.learning.optimizers import optimizer_factory, scheduler_factory
from core.swarm.averaging.state_averager import CheckedStateAverager, state_prefix
from core.swarm.dht.peer import LOOPBACK, join_swarm, own_addresses
from core.swarm.state.checks import digest_of
from core.swarm.traffic.link import Link
from tests.swarm.fixed_data import TRAINING, make_model

EPOCH = 7
OPTIMIZER = Optimizer("adamw", 0.01)
SCHEDULE = Schedule("linear", warmup_epochs=10, total_epochs=100)
SIZE = 60_000
"""Values of the one parameter: about three of hivemind's messages a tensor."""


class Swarm:
    """Peers of one process, and the link that counts their bytes."""

    prefix = "run"
    optimizer, schedule = OPTIMIZER, SCHEDULE

    def __init__(
        self,
        folder: Path,
        link: Link,
        parameters: Callable[[], Sequence[torch.nn.Parameter]] = lambda: [torch.nn.Parameter(torch.zeros(SIZE))],
    ) -> None:
        self._parameters = parameters
        self.link = link
        self._folder = folder
        self._dhts: list[DHT] = []
        self._averagers: list[CheckedStateAverager] = []

    def join(self, listen: str = LOOPBACK) -> DHT:
        first = own_addresses(self._dhts[0]) if self._dhts else []
        dht = join_swarm(first, self._folder / f"{len(self._dhts)}.key", listen)
        self._dhts.append(dht)
        return dht

    def peer(
        self, kind: type[CheckedStateAverager] = CheckedStateAverager, listen: str = LOOPBACK
    ) -> CheckedStateAverager:
        dht = self.join(listen)
        # Under which peers find its calls.
        kind.__name__ = CheckedStateAverager.__name__
        averager = kind(
            dht=dht,
            prefix=self.prefix,
            optimizer=optimizer_factory(self.optimizer),
            params=list(self._parameters()),
            scheduler=scheduler_factory(self.schedule),
            offload_optimizer=True,
            custom_gradients=True,
            allow_state_sharing=False,
            min_matchmaking_time=1.0,
            request_timeout=0.6,
            next_chunk_timeout=1.0,
            start=True,
        )
        self._averagers.append(averager)
        return averager

    def donor(
        self, kind: type[CheckedStateAverager] = CheckedStateAverager, epoch: int = EPOCH
    ) -> CheckedStateAverager:
        """A peer that announces its state; all its numbers are those of its epoch."""
        made = self.peer(kind)
        train(made, epoch)
        made.state_sharing_priority = epoch
        made.allow_state_sharing = True
        return made

    def until_announced(self, taker: CheckedStateAverager, donors: int) -> None:
        self.until(lambda: len(taker.donors()) == donors)

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 20.0
        while not condition():
            assert time.monotonic() < deadline, "it did not come about"
            time.sleep(0.05)

    @property
    def state_bytes(self) -> int:
        """Fetched by all peers together."""
        fetched: int = self.link.meter.by_kind()["state"][1]
        return fetched

    def end(self) -> None:
        for averager in self._averagers:
            averager.shutdown()
        for dht in self._dhts:
            dht.shutdown()


def train(averager: CheckedStateAverager, epochs: int) -> None:
    for epoch in range(averager.local_epoch, averager.local_epoch + epochs):
        for group in averager.optimizer.param_groups:
            for number, parameter in enumerate(group["params"]):
                parameter.grad = torch.full_like(parameter, epoch + number + 1.0)
        averager.step(increment_epoch=True, optimizer_step=True)


def digest(averager: CheckedStateAverager) -> str:
    return digest_of(averager.snapshot()[1])


def take(taker: CheckedStateAverager, known: int | None = EPOCH, seconds: float = 20.0) -> bool:
    """Whether the taker got a state, from whomever."""
    taker.receive_timeout = seconds
    taker.load_state_from_peers(oldest=known or 0, known_epoch=known)
    return taker.state_was_loaded


@contextlib.contextmanager
def run_swarm(folder: Path, link: Link) -> Iterator[Swarm]:
    """Peers as the optimizers of `fixed_data` meet them, in the run called "run"."""
    made = Swarm(folder, link, lambda: list(make_model().parameters()))
    made.prefix, made.optimizer, made.schedule = state_prefix("run"), TRAINING.optimizer, TRAINING.schedule
    yield made
    made.end()
