"""Where a session computes: on the processor or on one GPU, and how much of its memory it may take."""

import os
from collections.abc import Callable

import torch

from core.api.errors import WorldError
from core.conditions.nvml import Gpu, Nvml

_CONTEXT = 512 << 20
"""Bytes of a GPU that CUDA takes beside torch's own allocations, roughly."""


def device_of(gpu: str) -> torch.device:
    """The device for `SessionSettings.gpu`. Must be asked before anything else touches CUDA: no other GPU is then seen.

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
    """Reads what the driver says of the GPU for `SessionSettings.gpu`; None for the processor."""
    if not gpu:
        return None
    nvml = Nvml()
    return lambda: nvml.read().find(gpu)


def cap_memory(device: torch.device, size: int) -> None:
    """Let this process take at most `size` bytes of the GPU, 0 for all; beyond that torch raises OutOfMemoryError."""
    if device.type != "cuda":
        return
    total = torch.cuda.get_device_properties(device).total_memory
    share = min(1.0, max(0.01, (size - _CONTEXT) / total)) if size else 1.0
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(share, device)
