"""hivemind's two averagers, with one source of state and a check of what it sends."""

from collections.abc import Callable
from typing import Any, AsyncIterator  # noqa: UP035 - hivemind knows only this one as a stream

import torch
from hivemind.averaging import DecentralizedAverager
from hivemind.averaging.control import StepControl
from hivemind.compression import (
    BlockwiseQuantization,
    CompressionBase,
    Float16Compression,
    NoCompression,
    Uniform8BitQuantization,
)
from hivemind.optim.grad_averager import GradientAverager
from hivemind.optim.state_averager import TrainingStateAverager
from hivemind.p2p import P2PContext
from hivemind.proto import averaging_pb2

from core.api.errors import WorldError
from core.swarm.traffic import current_kind

COMPRESSIONS: dict[str, type[CompressionBase]] = {
    "none": NoCompression,
    "float16": Float16Compression,
    "uniform8bit": Uniform8BitQuantization,
    "blockwise8bit": BlockwiseQuantization,
}


State = tuple[dict[str, Any], list[torch.Tensor]]
"""hivemind's form: small metadata with epoch and the optimizer's numbers; parameters, then the optimizer's tensors."""


class BadState(WorldError):
    """A state from a peer or from disk must not be used."""


class _ForkedAverager(DecentralizedAverager):
    """Begins its process with one thread that uses torch.

    A forked torch makes itself a new thread pool at the first use, and two threads that do so at once break it
    ("Invalid thread pool!"): the compression of a first round then fails now and then, and the round times out.
    """

    def _run_internal(self) -> None:
        torch.set_num_threads(torch.get_num_threads())
        super()._run_internal()


class EpochGradientAverager(GradientAverager, _ForkedAverager):
    """Tells the group which epoch its gradients are of, and gives no state away.

    hivemind meets under the run's name alone, so that a late peer can meet one that is an epoch ahead. And gradients
    are of no use to a newcomer: sharing them would only double every download of state.
    """

    last_round: StepControl | None = None

    def __init__(self, *args: Any, epoch: Callable[[], int], **kwargs: Any) -> None:
        self._epoch = epoch
        super().__init__(*args, allow_state_sharing=False, **kwargs)

    def accumulate_grads_(self, batch_size: int) -> None:
        """Add the gradients of a microbatch, of whatever size.

        hivemind weighs each by its size and then divides by their number, which is the mean over all samples only where
        all are as large as the first.
        """
        super().accumulate_grads_(batch_size)
        self.local_times_accumulated = self.local_samples_accumulated / self._anchor_batch_size

    def restore_accumulated(self, samples: int) -> None:
        """Count the accumulators' present contents as the mean gradient of `samples`."""
        if not samples:
            # Who only followed the round had nothing to hand over.
            self.reset_accumulated_grads_()
            return
        self._accumulators_used_in_step = False
        self.local_samples_accumulated = self._anchor_batch_size = samples
        self.local_times_accumulated = 1

    def schedule_step(self, scheduled_time: float | None = None, **kwargs: Any) -> StepControl:
        self.last_round = super().schedule_step(scheduled_time, gather=self._epoch(), **kwargs)
        return self.last_round


class _CheckedDownload(_ForkedAverager):
    """Stands between the download and its use in `TrainingStateAverager.load_state_from_peers`."""

    local_epoch: int

    async def _load_state_from_peers(self, *args: Any, **kwargs: Any) -> None:
        current_kind.set("state")
        await super()._load_state_from_peers(*args, **kwargs)

    async def rpc_download_state(
        self, request: averaging_pb2.DownloadRequest, context: P2PContext
    ) -> AsyncIterator[averaging_pb2.DownloadData]:
        current_kind.set("state")
        async for message in super().rpc_download_state(request, context):
            yield message

    def load_state_from_peers(self, offered: State | None = None, **kwargs: Any) -> Any:
        self.state_was_loaded = False
        loaded = offered if offered is not None else super().load_state_from_peers(**kwargs)
        if loaded is None:
            return None
        metadata, tensors = loaded
        expected = [tuple(tensor.shape) for tensor in self.get_current_state()[1]]
        if [tuple(tensor.shape) for tensor in tensors] != expected:
            raise BadState("The state is of another model; it was not used.")
        if not all(bool(torch.isfinite(tensor).all()) for tensor in tensors if tensor.is_floating_point()):
            raise BadState("The state holds numbers that are not finite; it was not used.")
        epoch = metadata.get("epoch")
        # TrainingStateAverager refuses a state older than its own, and says so to nobody.
        self.state_was_loaded = isinstance(epoch, int) and epoch >= self.local_epoch
        return loaded


class CheckedStateAverager(TrainingStateAverager, _CheckedDownload):
    """Applies only a state with the right shapes and finite numbers; `state_was_loaded` tells of the last try."""

    state_was_loaded = False
    last_round: StepControl | None = None

    def schedule_step(self, *args: Any, **kwargs: Any) -> StepControl:
        self.last_round = super().schedule_step(*args, **kwargs)
        return self.last_round

    def adopt(self, epoch: int, optimizer_numbers: list[Any], tensors: list[torch.Tensor]) -> None:
        """Take over a state kept on disk, with the same checks as one that a peer sends.

        Raises:
            BadState: it does not fit.
        """
        metadata = {"epoch": epoch, "optimizer_metadata": optimizer_numbers}
        self.load_state_from_peers(offered=(metadata, tensors))
        if not self.state_was_loaded:
            raise BadState("The state on disk is older than the present one.")

    def state_size(self) -> int:
        """Bytes that a whole state takes uncompressed."""
        return sum(tensor.numel() * tensor.element_size() for tensor in self.get_current_state()[1])
