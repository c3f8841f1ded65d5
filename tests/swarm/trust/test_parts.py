"""Whatever bytes a member sends as a part, they are a tensor that fits or a fault."""

import asyncio

import pytest
import torch
from hivemind.averaging.partition import AllreduceException, TensorPartContainer
from hivemind.compression import CompressionBase, CompressionInfo, Float16Compression, NoCompression
from hivemind.compression import Uniform8BitQuantization as Uniform8Bit
from hivemind.proto import runtime_pb2
from hypothesis import given
from hypothesis import strategies as st

from core.swarm.trust.parts import LARGEST, CheckedParts, CheckedReducer, decoded, fault_in

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


def test_averages_that_come_in_any_order_come_to_their_places_and_to_whoever_keeps_them() -> None:
    brought = [torch.arange(5.0), torch.arange(7.0)]
    kept = list[tuple[int, int, list[float]]]()

    class Kept:
        def keep_average(self, reducer: int, number: int, average: torch.Tensor) -> None:
            kept.append((reducer, number, average.tolist()))

        def keep_brought(self, *_part: object) -> None:
            raise AssertionError

        def keep_part(self, *_part: object) -> None:
            raise AssertionError

    async def averaged() -> list[torch.Tensor]:
        parts = TensorPartContainer(brought, (5, 7), part_size_bytes=16)
        parts.__class__ = CheckedParts
        parts.record = Kept()
        for reducer in (1, 0):
            for number, part in enumerate(parts._input_parts_by_peer[reducer]):
                parts.register_processed_part(reducer, number, torch.full_like(part[0], 10.0))
        return [tensor async for tensor in parts.iterate_output_tensors()]

    assert [tensor.tolist() for tensor in asyncio.run(averaged())] == [[10.0] * 5, [10.0] * 7]
    assert [(reducer, number) for reducer, number, _average in kept] == [(1, 0), (1, 1), (0, 0), (0, 1)]
    assert kept[0][2] + kept[1][2] == [10.0 + value for value in range(7)]


@pytest.mark.parametrize("ends", ["while its averages are waited for", "before"])
def test_a_round_that_ends_early_hands_out_no_averages(ends: str) -> None:
    async def averaged() -> list[torch.Tensor]:
        parts = TensorPartContainer([torch.zeros(8)], (8,), part_size_bytes=16)
        parts.__class__ = CheckedParts
        parts.register_processed_part(0, 0, torch.zeros(4))
        if ends == "before":
            parts.finalize()
        else:
            asyncio.get_running_loop().call_soon(parts.finalize)
        return [tensor async for tensor in parts.iterate_output_tensors()]

    with pytest.raises(AllreduceException):
        asyncio.run(asyncio.wait_for(averaged(), 5.0))


def test_a_member_that_changes_its_weight_within_a_round_is_dropped() -> None:
    async def faults() -> list[str]:
        reducer = CheckedReducer((SHAPE, SHAPE), num_senders=2)
        found = list[str]()
        reducer.own_index, reducer.dropped = 0, set()
        reducer.most_weight, reducer.on_fault = lambda _sender: 16.0, lambda _sender, fault: found.append(fault)
        for part, weight in enumerate((16.0, 0.0)):
            own = reducer.accumulate_part(0, part, VALUES, 1.0)
            await asyncio.gather(own, reducer.accumulate_part(1, part, VALUES, weight))
        return found

    assert asyncio.run(faults()) == ["weight_invalid"]


def test_a_member_that_does_not_count_gets_the_difference_to_its_own_part() -> None:
    """As the others do where averages are compressed: with the average itself it would go on from another state."""
    theirs = VALUES.flip(0)

    async def difference() -> torch.Tensor:
        reducer = CheckedReducer((SHAPE,), num_senders=2)
        reducer.own_index, reducer.dropped = 0, {1}
        reducer.most_weight = lambda _sender: 16.0
        _own, average = await asyncio.gather(
            reducer.accumulate_part(0, 0, VALUES, 1.0), reducer.accumulate_part(1, 0, theirs, 1.0)
        )
        return (average - theirs).as_subclass(torch.Tensor)

    assert torch.equal(theirs + asyncio.run(difference()), theirs + (VALUES - theirs))
