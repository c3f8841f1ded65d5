from itertools import chain

import torch
from hivemind.averaging.partition import TensorPartContainer
from hivemind.compression import Float16Compression
from hypothesis import given
from hypothesis import strategies as st

from core.swarm.all_reduce.load_balancing import load_balance
from core.swarm.all_reduce.pieces import pieces_of


@given(
    st.lists(st.integers(1, 3000), min_size=1, max_size=8),
    st.lists(st.floats(0, 1e9), min_size=2, max_size=8).filter(any),
)
def test_hivemind_gives_each_reducer_as_many_values_as_its_share(sizes: list[int], bandwidths: list[float]) -> None:
    counts = load_balance(sum(sizes), bandwidths)
    pieces = list(chain(*pieces_of([torch.zeros(size) for size in sizes], counts)))
    container = TensorPartContainer(pieces, counts, compression=Float16Compression(), part_size_bytes=512)
    values = [sum(len(part) for part in container.get_raw_input_parts(reducer)) for reducer in range(len(counts))]
    # hivemind computes the borders with fractions, and may take one for that of the value before.
    assert all(abs(has - wanted) <= 1 for has, wanted in zip(values, counts, strict=True))


def test_what_is_written_to_the_pieces_is_written_to_the_tensors() -> None:
    tensors = [torch.zeros(4), torch.zeros(3)]
    pieces = pieces_of(tensors, [3, 0, 4])
    assert [[len(piece) for piece in own] for own in pieces] == [[3, 1], [3]]
    for number, piece in enumerate(chain(*pieces)):
        piece.fill_(number)
    assert [tensor.tolist() for tensor in tensors] == [[0, 0, 0, 1], [2, 2, 2]]
