"""What peers publish of the samples that they brought to rounds."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from core.learning.order import Piece
from core.swarm.dht.work_records import packed, work_of, works_in

PIECES = st.lists(st.builds(Piece, st.integers(0, 9), st.integers(0, 500), st.integers(1, 64)), max_size=60)


@given(PIECES)
def test_what_is_published_of_work_says_which_pieces_it_was(pieces: list[Piece]) -> None:
    [work] = works_in(packed([work_of(7, pieces)]))
    assert work.epoch == 7
    assert work.pieces() == pieces


def test_pieces_that_follow_each_other_take_few_bytes() -> None:
    assert len(packed([work_of(epoch, [Piece(epoch, 16 * n, 16) for n in range(1000)]) for epoch in range(4)])) < 64


@given(st.binary(max_size=200) | st.integers() | st.none())
def test_what_a_stranger_publishes_is_read_or_left_out(data: object) -> None:
    assert isinstance(works_in(data), tuple)


def test_work_of_too_many_pieces_is_left_out() -> None:
    runs = [[[5, 0, 1], 1 << 16]] * 2
    assert works_in(msgspec.msgpack.encode([[5, runs]])) == ()
    assert works_in(msgspec.msgpack.encode([[5, runs[:1]]])) != ()
