"""Records of updates as strangers write them: one of them must not hide all the others."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from core.swarm.state.fork_detection import parse_record

HONEST = msgspec.msgpack.encode((b"peer", ((5, 2, "ab" * 16),), True))


def test_an_honest_record_is_read_and_one_with_broken_text_is_left_out() -> None:
    assert parse_record(HONEST) is not None
    assert parse_record(HONEST.replace(b"abab", b"\xff\xffab")) is None


@given(st.binary() | st.integers(1, 9999).map(lambda depth: b"\x91" * depth) | st.none() | st.text())
def test_anything_else_is_left_out(data: object) -> None:
    assert parse_record(data) is None
