"""A state while it arrives from another peer: each message is checked, so that a useless one ends early."""

from dataclasses import dataclass, field
from typing import Any

import torch
from hivemind.compression import deserialize_torch_tensor
from hivemind.proto import averaging_pb2, runtime_pb2
from hivemind.utils import MSGPackSerializer
from hivemind.utils.streaming import combine_from_streaming

from core.swarm.errors import BadState
from core.swarm.state.checks import State, TensorLayout, bytes_of, check_digest, check_epoch, check_tensors
from core.swarm.state.sketch import FINE, Tolerance
from core.swarm.state.update_chain import ChainedUpdate, chain_of
from core.swarm.state.vouching import Testimony, Witnesses, check_vouched

_LARGEST_METADATA = 1 << 20
"""Bytes; real ones take some kilobytes."""


@dataclass(frozen=True)
class StateRequest:
    """What a donor has to send."""

    layout: TensorLayout
    parameters: int
    """Tensors at the beginning that are no optimizer's."""
    oldest: int
    newest: int
    """Epochs that are plausible."""
    silence: float
    """Seconds without a byte after which the download is given up."""
    required_update: ChainedUpdate | None = None
    """It has to be among those that led to the state."""
    witnesses: Witnesses = field(default_factory=Witnesses)
    tolerance: Tolerance = FINE


class IncomingState:
    """Puts tensors together from a donor's messages. Methods raise BadState."""

    def __init__(self, request: StateRequest) -> None:
        self._request = request
        self._metadata: dict[str, Any] | None = None
        self._tensors: list[torch.Tensor] = []
        self._parts: list[runtime_pb2.Tensor] = []
        self._size = 0
        """Bytes of the parts, which belong to the next tensor."""

    @property
    def epoch(self) -> int | None:
        """That the donor announces; None until the first message has come."""
        return self._metadata["epoch"] if self._metadata is not None else None

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing any more."""
        return len(self._tensors) == len(self._request.layout)

    def add(self, message: averaging_pb2.DownloadData) -> None:
        """Take the next message; the first one has the metadata, too."""
        if self._metadata is None:
            self._metadata = _checked_metadata(message.metadata, self._request)
        shape, kind = self._request.layout[len(self._tensors)]
        self._parts.append(_checked_part(message.tensor_part, first=not self._parts))
        self._size += len(message.tensor_part.buffer)
        if self._size > bytes_of(shape, kind):
            raise BadState("state_of_other_model")
        if self._size == bytes_of(shape, kind):
            self._tensors.append(_tensor(self._parts, shape, kind))
            self._parts, self._size = [], 0

    def finish(self) -> State:
        """The state, once the donor has sent all."""
        if self._metadata is None:
            raise BadState("donor_busy")
        if not self.is_complete:
            raise BadState("state_incomplete")
        return self._metadata, self._tensors


def check_arrived(state: State, heard: Testimony, request: StateRequest) -> None:
    """Raises BadState unless the whole state is of this model, what its donor announced, and the run's."""
    metadata, tensors = state
    check_tensors(tensors, request.layout)
    check_digest(metadata.get("digest"), tensors)
    check_vouched(metadata["epoch"], tensors, request.parameters, heard, request.tolerance)


def _checked_metadata(raw: bytes, request: StateRequest) -> dict[str, Any]:
    metadata = MSGPackSerializer.loads(raw) if 0 < len(raw) <= _LARGEST_METADATA else None
    if not isinstance(metadata, dict):
        raise BadState("metadata_malformed")
    check_epoch(metadata.get("epoch"), request.oldest, request.newest)
    if request.required_update is not None and request.required_update not in chain_of(metadata.get("updates")):
        raise BadState("state_of_other_fork")
    return metadata


def _checked_part(part: runtime_pb2.Tensor, *, first: bool) -> runtime_pb2.Tensor:
    if first and part.compression != runtime_pb2.CompressionType.NONE:
        # It would lose digits.
        raise BadState("state_compressed")
    if not part.buffer:
        raise BadState("message_empty")
    return part


def _tensor(parts: list[runtime_pb2.Tensor], shape: tuple[int, ...], kind: torch.dtype) -> torch.Tensor:
    if tuple(parts[0].size) != shape or parts[0].dtype != str(kind).removeprefix("torch."):
        raise BadState("state_of_other_model")
    tensor: torch.Tensor = deserialize_torch_tensor(combine_from_streaming(parts))
    return tensor.detach()
