"""The device of a session: the processor or one GPU, and how much of its memory may be used."""

import os
from collections.abc import Callable

import torch

from core.api.errors import WorldError
from core.conditions.nvml import Gpu, Nvml

_CONTEXT = 512 << 20
"""Approximate bytes of GPU memory that CUDA uses in addition to torch's allocations."""


def device_of(gpu: str) -> torch.device:
    """The device for `SessionSettings.gpu`. Call it before any other use of CUDA: it hides all other GPUs.

    Raises:
        WorldError: PyTorch cannot use it.
    """
    os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    if not gpu:
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise WorldError("gpu_not_usable")
    return torch.device("cuda", 0)


def reader_of(gpu: str) -> Callable[[], Gpu | None] | None:
    """A function that reads the state of the GPU for `SessionSettings.gpu`; None for the processor."""
    if not gpu:
        return None
    nvml = Nvml()
    return lambda: nvml.read().find(gpu)


def cap_memory(device: torch.device, size: int) -> None:
    """Limit this process to `size` bytes of GPU memory, 0 for all; beyond, torch raises OutOfMemoryError."""
    if device.type != "cuda":
        return
    total = torch.cuda.get_device_properties(device).total_memory
    share = min(1.0, max(0.01, (size - _CONTEXT) / total)) if size else 1.0
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(share, device)
