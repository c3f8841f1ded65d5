"""Compares this machine with a project's requirements."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from core.api.message import Message
from core.api.project.manifest import Requirements
from core.conditions.nvml import Nvml


def missing(needs: Requirements, cache: Path) -> Iterator[Message]:
    """One message for each requirement that the machine does not meet; bandwidth is only measured in sessions."""
    import psutil

    if (memory := psutil.virtual_memory().total) < needs.memory:
        yield Message("needs_memory", {"needed": needs.memory, "present": memory})
    if needs.gpu_memory and (gpu_memory := _gpu_memory()) < needs.gpu_memory:
        if gpu_memory:
            yield Message("needs_gpu_memory", {"needed": needs.gpu_memory, "present": gpu_memory})
        else:
            yield Message("needs_gpu", {"needed": needs.gpu_memory})
    if (free := _free(cache)) < needs.disk:
        yield Message("needs_disk", {"needed": needs.disk, "present": free})


def _free(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0


def _gpu_memory() -> int:
    """Bytes of the largest NVIDIA GPU; 0 if there is none or no driver."""
    with closing(Nvml()) as nvml:
        return max((gpu.memory_total for gpu in nvml.read().present), default=0)
