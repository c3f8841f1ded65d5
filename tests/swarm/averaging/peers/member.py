"""A member of averaging groups: a real averager of gradients in this process."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
import torch
from hivemind import DHT
from hivemind.averaging.control import StepControl

from core.swarm.averaging.gradient_averager import EpochGradientAverager
from core.swarm.averaging.group_formation import Expected
from core.swarm.dht.peer import LOOPBACK, join_swarm

TIMEOUT = 60.0
"""Seconds that a round may take."""


class Member:
    """One peer's averager of gradients; its gradients are `value` everywhere."""

    def __init__(
        self,
        folder: Path,
        value: float,
        contact: list[str],
        opened: ExitStack,
        *,
        matchmaking_time: float = 1.0,
        expected: Callable[[], Mapping[bytes, float]] | None = None,
        leaders: Callable[[], Collection[bytes]] | None = None,
        apart_from: Callable[[], Collection[bytes]] = tuple,
        sizes: Sequence[int] = (3,),
        kind: type[EpochGradientAverager] = EpochGradientAverager,
        part_timeout: float = TIMEOUT,
        listen: str | None = LOOPBACK,
        adds_samples: bool = True,
        **options: Any,
    ) -> None:
        self.reported_at = 0.0
        """As the others know it."""
        self.epoch, self.value, self.weight = 0, value, float(adds_samples)
        parameters = [torch.nn.Parameter(torch.zeros(size)) for size in sizes]
        for parameter in parameters:
            parameter.grad = torch.full_like(parameter, value)

        def expectation() -> Expected:
            return Expected((expected or dict)(), leaders() if leaders is not None else None, apart_from())

        self.dht: DHT = join_swarm(contact, folder / f"{value:g}.key", listen)
        opened.callback(self.dht.shutdown)
        self.averager = kind(
            epoch=lambda: self.epoch,
            parameters=parameters,
            dht=self.dht,
            prefix="run",
            expected=expectation if expected is not None else None,
            min_matchmaking_time=matchmaking_time,
            request_timeout=0.9,
            allreduce_timeout=TIMEOUT,
            next_chunk_timeout=part_timeout,
            adds_samples=adds_samples,
            start=True,
            **options,
        )
        opened.callback(self.averager.shutdown)
        self.averager.accumulate_grads_(1)

    def begin(self, timeout: float = 20.0) -> StepControl:
        self.averager.load_accumulators_into_averager_()
        control = self.averager.schedule_step(timeout=timeout)
        control.weight = self.weight
        return control

    @contextmanager
    def vanished(self) -> Iterator[None]:
        """Its computer does not answer any more."""
        dht = psutil.Process(self.dht.pid)
        processes = [psutil.Process(self.averager.pid), dht, *dht.children(recursive=True)]
        for process in processes:
            process.suspend()
        try:
            yield
        finally:
            for process in processes:
                process.resume()

    @property
    def gradient(self) -> float:
        with self.averager.get_tensors() as tensors:
            values = torch.cat([tensor.flatten() for tensor in tensors]).double()
            # The last bits of a sum depend on the order in which parts came, and each reducer has its own.
            (value,) = set(values.round(decimals=6).tolist())
            return float(value)


def round_of(members: Sequence[Member], patience: float = 15.0) -> tuple[int, float]:
    """The size of their group and the seconds until all have its average, with `patience` for each."""
    began = time.monotonic()
    controls = [member.begin() for member in members]
    for control in controls:
        control.allow_allreduce()
    (size,) = {len(control.result(patience)) for control in controls}
    return size, time.monotonic() - began
