"""GPUs: which exist, which other programs use, and which disappeared."""

import contextlib
import os
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from core.api.message import Message
from core.api.sensors import IN_USE, Attempt, SensorInfo
from core.conditions.nvml import Gpu, Nvml, Program, can_learn, installed_torch
from core.conditions.source import Latch
from core.system.orphans import TAG

_TAKEN_FROM = 20
"""Percent of a GPU that other programs use together before it counts as taken. A desktop with a video stays below."""
_QUIET_FOR = 20.0
"""Seconds without such use until a GPU is free again: a game that loads its next scene has not ended."""
_HEAT_STAYS = 20.0
"""Seconds: a GPU that stays this warm for so long is not warm because of the last microbatch."""
_SOURCE = "NVML"


@dataclass(frozen=True)
class GpuState:
    """A GPU with values that need several readings."""

    gpu: Gpu
    taken_by: tuple[str, ...] = ()
    """Names of other programs that use it a lot."""
    taken_since: float | None = None
    """UTC seconds."""
    coolest: int | None = None
    """The lowest temperature of the last seconds; None until it was watched that long."""
    others_memory: int = 0
    """Bytes that other programs hold."""


@dataclass(frozen=True)
class GpuStates:
    present: tuple[GpuState, ...] = ()
    gone: tuple[Gpu, ...] = ()
    """Answered since this program started, and do not answer any more."""
    failure: Message | None = None
    """The driver's error, if it fails."""
    can_learn: bool = False
    """The installed PyTorch can use GPUs; otherwise no GPU matters."""


@dataclass
class _Past:
    """The history of one GPU."""

    last: Gpu
    latch: Latch
    taken_by: tuple[str, ...] = ()
    taken_since: float | None = None


class GpuSensor:
    name = "gpu"
    every = 1.0

    def __init__(
        self,
        clock: Callable[[], float] = time.time,
        tick: Callable[[], float] = time.monotonic,
        is_other: Callable[[int], bool] | None = None,
        torch: Callable[[], Path | None] = installed_torch,
    ) -> None:
        """`clock` gives UTC seconds; `is_other` says whether a process id belongs to another program.

        `torch` finds the folder of the PyTorch that sessions use; it may be installed later.
        """
        self._clock, self._tick = clock, tick
        self._nvml = Nvml()
        self._is_other = is_other or is_other_program
        self._torch = torch
        self._can_learn = False
        self._past: dict[str, _Past] = {}
        self._warmth: dict[str, deque[tuple[float, int]]] = {}
        self._value = GpuStates()

    def read(self) -> GpuStates:
        gpus = self._nvml.read()
        present = tuple(self._state_of(gpu) for gpu in gpus.present)
        here = {gpu.uuid for gpu in gpus.present}
        self._can_learn = self._can_learn or can_learn(self._torch())
        gone = tuple(past.last for uuid, past in self._past.items() if uuid not in here)
        self._value = GpuStates(present, gone, gpus.failure, self._can_learn)
        return self._value

    def info(self) -> SensorInfo:
        value = self._value
        if not value.present:
            missing = value.failure or Message("driver_missing")
            return SensorInfo(self.name, value.failure or Message("gpu_missing"), False, (Attempt(_SOURCE, missing),))
        gpus = [_use(state) for state in value.present]
        text = Message("gpus", {"gpus": gpus}) if value.can_learn else Message("gpus_not_usable", {"gpus": gpus})
        return SensorInfo(self.name, text, True, (Attempt(_SOURCE, IN_USE),))

    def _state_of(self, gpu: Gpu) -> GpuState:
        past = self._past.setdefault(gpu.uuid, _Past(gpu, Latch(_QUIET_FOR, self._tick)))
        past.last = gpu
        others = [program for program in gpu.programs if self._is_other(program.pid)]
        busy = busy_programs(others)
        if past.latch.holds(bool(busy)):
            past.taken_by = tuple(_name(program.pid) for program in busy) or past.taken_by
            past.taken_since = past.taken_since or self._clock()
        else:
            past.taken_by, past.taken_since = (), None
        memory = sum(program.memory for program in others)
        return GpuState(gpu, past.taken_by, past.taken_since, self._coolest(gpu), memory)

    def _coolest(self, gpu: Gpu) -> int | None:
        warmth = self._warmth.setdefault(gpu.uuid, deque())
        now = self._tick()
        if gpu.temperature is None:
            warmth.clear()
            return None
        warmth.append((now, gpu.temperature))
        while len(warmth) > 1 and warmth[1][0] <= now - _HEAT_STAYS:
            warmth.popleft()
        return min(value for _, value in warmth) if warmth[0][0] <= now - _HEAT_STAYS else None


def busy_programs(programs: list[Program]) -> list[Program]:
    """Programs that use the GPU. Where the driver does not report utilisation, programs that compute count."""
    if sum(program.utilization or 0 for program in programs) >= _TAKEN_FROM:
        return [program for program in programs if program.utilization]
    return [program for program in programs if program.utilization is None and program.computes]


def is_other_program(pid: int) -> bool:
    """Whether a process is not ours. An id that does not exist here belongs to another container and is ignored."""
    import psutil

    if not psutil.pid_exists(pid):
        return False
    with contextlib.suppress(OSError):
        return f"\0{TAG}=".encode() not in b"\0" + Path(f"/proc/{pid}/environ").read_bytes()
    # The environment of other users' processes cannot be read.
    return pid != os.getpid()


def _name(pid: int) -> str:
    import psutil

    try:
        return psutil.Process(pid).name()
    except psutil.Error:
        return "another program"


def _use(state: GpuState) -> Message:
    gpu = state.gpu
    facts = []
    if gpu.temperature is not None:
        facts.append(Message("gpu_temperature", {"celsius": gpu.temperature}))
    if gpu.power is not None:
        facts.append(Message("gpu_power", {"watts": gpu.power}))
    if gpu.utilization is not None:
        facts.append(Message("gpu_busy", {"share": gpu.utilization / 100}))
    if state.taken_by:
        facts.append(Message("gpu_used_by", {"programs": state.taken_by}))
    return (
        Message("gpu_with", {"name": gpu.name, "facts": facts}) if facts else Message("gpu_named", {"name": gpu.name})
    )
