"""A donor's messages and sketches may be any bytes: they are refused, or are what was asked for."""

import pytest
import torch
from hivemind.compression import CompressionInfo, NoCompression
from hivemind.proto import averaging_pb2
from hivemind.utils import MSGPackSerializer
from hypothesis import given
from hypothesis import strategies as st

from core.swarm.errors import BadState
from core.swarm.state import vouching
from core.swarm.state.checks import digest_of, layout_of
from core.swarm.state.incoming import IncomingState, StateRequest, check_arrived
from core.swarm.state.sketch import FINE, Sketch, is_same, sketch_in, sketch_of

TENSORS = [torch.arange(6.0).view(2, 3), torch.ones(3).half()]
REQUEST = StateRequest(layout_of(TENSORS), 1, 0, 10, 1.0)
METADATA = MSGPackSerializer.dumps({"epoch": 5, "digest": digest_of(TENSORS), "updates": []})
PARTS = [NoCompression().compress(tensor, CompressionInfo.from_tensor(tensor)) for tensor in TENSORS]
SEED = b"0123456789abcdef"


def received(metadata: bytes, first: bytes, second: bytes) -> list[torch.Tensor]:
    """The state that these bytes are, if they are one."""
    incoming = IncomingState(REQUEST)
    for number, (said, buffer) in enumerate(((metadata, first), (b"", second))):
        message = averaging_pb2.DownloadData(metadata=said, tensor_part=PARTS[number])
        message.tensor_part.buffer = buffer
        incoming.add(message)
    state = incoming.finish()
    check_arrived(state, vouching.Testimony(), REQUEST)
    return state[1]


def test_what_the_donor_announced_arrives() -> None:
    arrived = received(METADATA, PARTS[0].buffer, PARTS[1].buffer)
    assert all(torch.equal(one, other) for one, other in zip(arrived, TENSORS, strict=True))


@given(st.binary(min_size=1, max_size=24), st.binary(min_size=1, max_size=6))
def test_other_bytes_than_the_announced_ones_are_no_state(first: bytes, second: bytes) -> None:
    if (first, second) != (PARTS[0].buffer, PARTS[1].buffer):
        with pytest.raises(BadState):
            received(METADATA, first, second)


@given(st.binary(max_size=100))
def test_an_announcement_of_any_bytes_is_refused(metadata: bytes) -> None:
    # What cannot be unpacked ends the download with the unpacker's own error.
    with pytest.raises(Exception, match=r".*"):
        received(metadata, PARTS[0].buffer, PARTS[1].buffer)


@given(st.binary(max_size=400))
def test_a_sketch_of_any_bytes_is_none_or_of_another_state(data: bytes) -> None:
    sketch = sketch_in(data)
    assert sketch is None or not is_same(sketch, TENSORS, 1, FINE)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@given(st.binary(max_size=272))
def test_a_sketch_with_any_rows_is_compared(rows: bytes) -> None:
    made = sketch_of(5, TENSORS, SEED)
    changed = Sketch(made.epoch, made.seed, rows + made.rows[len(rows) :])
    assert is_same(changed, TENSORS, 1, FINE) in (True, False)
