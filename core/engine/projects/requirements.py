"""Does this machine fit what a project asks for? One sentence for each thing it lacks."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from core.api.phrases import phrase
from core.api.project.manifest import Requirements


def missing(needs: Requirements, cache: Path) -> tuple[str, ...]:
    """What the machine lacks; empty means it fits. Line speed is not judged: only a session can measure it."""
    return tuple(_missing(needs, cache))


def _missing(needs: Requirements, cache: Path) -> Iterator[str]:
    import psutil

    if (memory := psutil.virtual_memory().total) < needs.memory:
        yield f"It needs {_gib(needs.memory)} of memory; this computer has {_gib(memory)}."
    if needs.gpu_memory and (gpu_memory := _gpu_memory()) < needs.gpu_memory:
        has = phrase(f"the largest here has {_gib(gpu_memory)}") if gpu_memory else phrase("none was found here")
        yield f"It needs a GPU with {_gib(needs.gpu_memory)} of memory; {has}."
    if (free := _free(cache)) < needs.disk:
        yield f"It needs {_gib(needs.disk)} of free disk space; there are {_gib(free)}."


def _free(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0


def _gpu_memory() -> int:
    """Bytes of the largest NVIDIA GPU, 0 if there is none or no driver."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return 0
    try:
        handles = map(pynvml.nvmlDeviceGetHandleByIndex, range(pynvml.nvmlDeviceGetCount()))
        return max((int(pynvml.nvmlDeviceGetMemoryInfo(handle).total) for handle in handles), default=0)
    except pynvml.NVMLError:
        return 0
    finally:
        pynvml.nvmlShutdown()


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB"
