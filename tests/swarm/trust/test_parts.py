"""Whatever bytes a member sends as a part, they are a tensor that fits or a fault."""

import asyncio

import pytest
import torch
from hivemind.compression import CompressionBase, CompressionInfo, Float16Compression, NoCompression
from hivemind.compression import Uniform8BitQuantization as Uniform8Bit
from hivemind.proto import runtime_pb2
from hypothesis import given
from hypothesis import strategies as st

from core.swarm.trust.parts import LARGEST, CheckedReducer, decoded, fault_in

SHAPE = torch.Size((64,))
VALUES = torch.randn(SHAPE, generator=torch.Generator().manual_seed(0))
CODECS: list[CompressionBase] = [NoCompression(), Float16Compression(), Uniform8Bit()]
PARTS = [codec.compress(VALUES, CompressionInfo.from_tensor(VALUES)) for codec in CODECS]


def changed(part: runtime_pb2.Tensor, **fields: object) -> runtime_pb2.Tensor:
    whole = runtime_pb2.Tensor()
    whole.CopyFrom(part)
    for name in fields:
        whole.ClearField(name)
    whole.MergeFrom(runtime_pb2.Tensor(**fields))
    return whole


def reduced(part: torch.Tensor, weight: float) -> tuple[torch.Tensor, list[str]]:
    """The average of an honest member and one that sends this, and what that one is blamed for."""

    async def reduce() -> tuple[torch.Tensor, list[str]]:
        faults = list[str]()
        reducer = CheckedReducer((SHAPE,), 2)
        reducer.own_index, reducer.dropped, reducer.hands_out_averages = 0, set(), True
        reducer.most_weight = lambda _sender: 16.0
        reducer.on_fault = lambda _sender, offence: faults.append(offence)
        average, _same = await asyncio.gather(
            reducer.accumulate_part(0, 0, VALUES, 1.0), reducer.accumulate_part(1, 0, part, weight)
        )
        return average.as_subclass(torch.Tensor), faults

    return asyncio.run(reduce())


@given(st.sampled_from(PARTS), st.binary(max_size=400), st.floats(width=64))
def test_a_buffer_of_any_bytes_is_averaged_or_is_a_fault(part: runtime_pb2.Tensor, data: bytes, weight: float) -> None:
    average, faults = reduced(decoded(changed(part, buffer=data)), weight)
    assert average.shape == SHAPE
    assert float(average.abs().max()) <= LARGEST
    if faults:
        torch.testing.assert_close(average, VALUES)


@given(
    st.sampled_from(PARTS),
    st.lists(st.integers(0, 2**32 - 1), max_size=4),
    st.text(st.characters(codec="utf-8"), max_size=10),
    st.integers(0, 9),
)
def test_sizes_types_and_codecs_of_any_kind_are_decoded_or_are_a_fault(
    part: runtime_pb2.Tensor, size: list[int], dtype: str, codec: int
) -> None:
    for fields in ({"size": size}, {"dtype": dtype}, {"compression": codec}):
        tensor = decoded(changed(part, **fields))
        assert fault_in(tensor, SHAPE) is not None or tensor.shape == SHAPE


@pytest.mark.parametrize("part", PARTS)
def test_an_honest_part_has_no_fault(part: runtime_pb2.Tensor) -> None:
    assert fault_in(decoded(part), SHAPE) is None
