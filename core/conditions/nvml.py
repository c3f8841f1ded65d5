"""NVIDIA's management library (docs.nvidia.com/deploy/nvml-api): the state of the GPUs. Needs no privileges.

Shared by the engine, which decides whether a GPU may be used, and the trainer, which keeps it under its ceilings.
"""

import contextlib
import ctypes
import importlib.util
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from core.api.message import Message

_LIBRARY = "libnvidia-ml.so.1"
_NEVER_SEEN = 0
_UTILIZATION_WINDOW = 2_000_000
"""Microseconds before the newest sample over which a program's utilisation is averaged."""


@dataclass(frozen=True)
class Program:
    """A process that has memory on a GPU."""

    pid: int
    computes: bool
    """CUDA, not drawing."""
    memory: int = 0
    """Bytes; 0 where the driver does not report it."""
    utilization: int | None = None
    """Percent of the last seconds; None where the driver does not report it."""


@dataclass(frozen=True)
class Gpu:
    """One GPU at one moment. None: not reported."""

    number: int
    """As `nvidia-smi` counts."""
    uuid: str
    name: str
    memory_total: int
    """Bytes."""
    memory_used: int
    """Bytes, by all programs together."""
    utilization: int | None = None
    """Percent."""
    temperature: int | None = None
    """Degrees Celsius."""
    power: float | None = None
    """Watts."""
    power_limit: float | None = None
    """The power limit in watts that the driver enforces."""
    energy: float | None = None
    """Joules since the driver was loaded."""
    programs: tuple[Program, ...] = ()


@dataclass(frozen=True)
class Gpus:
    """Every GPU that answers. `failure` is the error of the driver, if it or a GPU is there and fails."""

    present: tuple[Gpu, ...] = ()
    failure: Message | None = None

    def find(self, uuid: str) -> Gpu | None:
        return next((gpu for gpu in self.present if gpu.uuid == uuid), None)


class Nvml:
    """Reads all GPUs and reconnects after a failure. Never raises: a machine without NVIDIA's driver has no GPU."""

    def __init__(self) -> None:
        self._nvml: ModuleType | None = None

    def read(self) -> Gpus:
        """All GPUs now; takes about a millisecond."""
        if not _has_driver():
            return Gpus()
        # Imported late: a process without a GPU saves pynvml's 14 MB.
        import pynvml

        try:
            return self._read(pynvml)
        except pynvml.NVMLError as error:
            self.close()
            return Gpus(failure=_failure(error))

    def close(self) -> None:
        if self._nvml is not None:
            with contextlib.suppress(self._nvml.NVMLError):
                self._nvml.nvmlShutdown()
            self._nvml = None

    def _read(self, nvml: ModuleType) -> Gpus:
        if self._nvml is None:
            nvml.nvmlInit()
            self._nvml = nvml
        found, failure = [], None
        for number in range(nvml.nvmlDeviceGetCount()):
            try:
                found.append(_gpu(nvml, number))
            except nvml.NVMLError as error:
                failure = _failure(error)
        if failure is not None:
            # A reloaded driver only answers after a new nvmlInit.
            self.close()
        return Gpus(tuple(found), failure)


def installed_torch() -> Path | None:
    """The folder of the PyTorch that this process would import."""
    found = importlib.util.find_spec("torch")
    return Path(found.origin).parent if found is not None and found.origin else None


def can_learn(torch: Path | None) -> bool:
    """Whether the PyTorch in a folder is built for NVIDIA's GPUs. Found without importing it."""
    if torch is None:
        return False
    try:
        text = (torch / "version.py").read_text(encoding="utf-8")
    except OSError:
        return False
    return any(line.startswith("cuda") and not line.endswith("None") for line in text.splitlines())


def driver_cuda() -> tuple[int, int] | None:
    """The newest CUDA version that the driver supports; None: there is no driver, or it fails."""
    if not _has_driver():
        return None
    import pynvml

    try:
        pynvml.nvmlInit()
        number = int(pynvml.nvmlSystemGetCudaDriverVersion_v2())
        pynvml.nvmlShutdown()
    except pynvml.NVMLError:
        return None
    return number // 1000, number % 1000 // 10


def get_power_limit(number: int) -> float:
    """The power limit of GPU `number` in watts. Raises OSError with the driver's reason."""
    with _handle(number) as (nvml, handle):
        return float(nvml.nvmlDeviceGetPowerManagementLimit(handle)) / 1000


def set_power_limit(number: int, watts: float) -> None:
    """Set the power limit of GPU `number` to `watts`, or the nearest allowed value. Needs root.

    Raises:
        OSError: the driver refuses; the text is its reason.
    """
    with _handle(number) as (nvml, handle):
        lowest, highest = nvml.nvmlDeviceGetPowerManagementLimitConstraints(handle)
        nvml.nvmlDeviceSetPowerManagementLimit(handle, max(lowest, min(highest, round(watts * 1000))))


@contextlib.contextmanager
def _handle(number: int) -> Iterator[tuple[ModuleType, Any]]:
    import pynvml

    try:
        pynvml.nvmlInit()
        try:
            yield pynvml, pynvml.nvmlDeviceGetHandleByIndex(number)
        finally:
            pynvml.nvmlShutdown()
    except pynvml.NVMLError as error:
        raise OSError(_reason(error)) from None


def _has_driver() -> bool:
    if sys.platform != "linux":
        return True
    try:
        ctypes.CDLL(_LIBRARY)
    except OSError:
        return False
    return True


def _gpu(nvml: ModuleType, number: int) -> Gpu:
    handle = nvml.nvmlDeviceGetHandleByIndex(number)
    memory = nvml.nvmlDeviceGetMemoryInfo(handle)
    rates = _supported(nvml, nvml.nvmlDeviceGetUtilizationRates, handle)
    return Gpu(
        number=number,
        uuid=nvml.nvmlDeviceGetUUID(handle),
        name=nvml.nvmlDeviceGetName(handle),
        memory_total=int(memory.total),
        memory_used=int(memory.used),
        utilization=None if rates is None else int(rates.gpu),
        temperature=_supported(nvml, nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
        power=_thousandth(_supported(nvml, nvml.nvmlDeviceGetPowerUsage, handle)),
        power_limit=_thousandth(_supported(nvml, nvml.nvmlDeviceGetEnforcedPowerLimit, handle)),
        energy=_thousandth(_supported(nvml, nvml.nvmlDeviceGetTotalEnergyConsumption, handle)),
        programs=_programs(nvml, handle),
    )


def _programs(nvml: ModuleType, handle: Any) -> tuple[Program, ...]:
    busy = _utilizations(nvml, handle)
    drawing = _supported(nvml, nvml.nvmlDeviceGetGraphicsRunningProcesses, handle) or []
    computing = _supported(nvml, nvml.nvmlDeviceGetComputeRunningProcesses, handle) or []
    programs = {}
    # A program that computes and draws is listed twice and counts as computing.
    for processes, computes in ((drawing, False), (computing, True)):
        for process in processes:
            utilization = None if busy is None else busy.get(process.pid, 0)
            programs[process.pid] = Program(process.pid, computes, process.usedGpuMemory or 0, utilization)
    return tuple(programs.values())


def _utilizations(nvml: ModuleType, handle: Any) -> dict[int, int] | None:
    """Percent by process id; None where the driver does not report it."""
    try:
        samples = nvml.nvmlDeviceGetProcessUtilization(handle, _NEVER_SEEN)
    except nvml.NVMLError as error:
        if error.value == nvml.NVML_ERROR_NOT_FOUND:
            return {}
        if error.value in _unsupported(nvml):
            return None
        raise
    newest = max((sample.timeStamp for sample in samples), default=0)
    recent = [sample for sample in samples if sample.timeStamp + _UTILIZATION_WINDOW >= newest]
    busy: dict[int, int] = {}
    for sample in recent:
        busy[sample.pid] = max(busy.get(sample.pid, 0), sample.smUtil)
    return busy


def _supported(nvml: ModuleType, ask: Callable[..., Any], *arguments: Any) -> Any:
    """The answer, or None where this GPU does not support the question; raises other errors."""
    try:
        return ask(*arguments)
    except nvml.NVMLError as error:
        if error.value in _unsupported(nvml):
            return None
        raise


def _unsupported(nvml: ModuleType) -> tuple[int, ...]:
    return (
        nvml.NVML_ERROR_NOT_SUPPORTED,
        nvml.NVML_ERROR_NO_PERMISSION,
        nvml.NVML_ERROR_NOT_FOUND,
        nvml.NVML_ERROR_FUNCTION_NOT_FOUND,
        nvml.NVML_ERROR_INSUFFICIENT_SIZE,
    )


def _thousandth(value: Any) -> float | None:
    return None if value is None else value / 1000


def _reason(error: Any) -> str:
    return str(error).rstrip(".")


def _failure(error: Any) -> Message:
    return Message("driver_fails", {"detail": _reason(error)})
