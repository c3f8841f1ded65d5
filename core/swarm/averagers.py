"""hivemind's two averagers, with one source of state and a check of what it sends."""

from typing import Any

import torch
from hivemind.averaging import DecentralizedAverager
from hivemind.compression import (
    BlockwiseQuantization,
    CompressionBase,
    Float16Compression,
    NoCompression,
    Uniform8BitQuantization,
)
from hivemind.optim.grad_averager import GradientAverager
from hivemind.optim.state_averager import TrainingStateAverager

from core.api.errors import WorldError

COMPRESSIONS: dict[str, type[CompressionBase]] = {
    "none": NoCompression,
    "float16": Float16Compression,
    "uniform8bit": Uniform8BitQuantization,
    "blockwise8bit": BlockwiseQuantization,
}


class BadState(WorldError):
    """A donor sent a state that must not be used."""


class PlainGradientAverager(GradientAverager):
    """Gradients are of no use to a newcomer: sharing them would only double every download of state."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, allow_state_sharing=False, **kwargs)


class _CheckedDownload(DecentralizedAverager):
    """Stands between the download and its use in `TrainingStateAverager.load_state_from_peers`."""

    local_epoch: int

    def load_state_from_peers(self, **kwargs: Any) -> Any:
        self.state_was_loaded = False
        loaded = super().load_state_from_peers(**kwargs)
        if loaded is None:
            return None
        metadata, tensors = loaded
        expected = [tuple(tensor.shape) for tensor in self.get_current_state()[1]]
        if [tuple(tensor.shape) for tensor in tensors] != expected:
            raise BadState("A peer sent a state of another model; it was not used.")
        if not all(bool(torch.isfinite(tensor).all()) for tensor in tensors if tensor.is_floating_point()):
            raise BadState("A peer sent a state with numbers that are not finite; it was not used.")
        epoch = metadata.get("epoch")
        # TrainingStateAverager refuses a state older than its own, and says so to nobody.
        self.state_was_loaded = isinstance(epoch, int) and epoch >= self.local_epoch
        return loaded


class CheckedStateAverager(TrainingStateAverager, _CheckedDownload):
    """Applies only a state with the right shapes and finite numbers; `state_was_loaded` tells of the last try."""

    state_was_loaded = False

    def state_size(self) -> int:
        """Bytes that a whole state takes uncompressed."""
        return sum(tensor.numel() * tensor.element_size() for tensor in self.get_current_state()[1])
