"""Whatever a stranger sends, each reader of it returns what it means or refuses it, in no other way."""

from collections.abc import Callable
from contextlib import suppress

import msgspec
import pytest
from hivemind.proto import averaging_pb2
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.fuzz import TARGETS, inputs
from core.swarm.averaging.audited import question_in
from core.swarm.connectivity import dial_back
from core.swarm.dht.contributions import BadStatement, verify
from core.swarm.dht.organiser import verify as verify_record
from core.swarm.dht.record_limits import is_acceptable, is_readable
from core.swarm.dht.work_records import accusations_in, works_in
from core.swarm.errors import BadState
from core.swarm.state.fork_detection import parse_record
from core.swarm.state.sketch import sketch_in
from core.swarm.state.update_chain import chain_of
from core.swarm.state.vouching import read_epoch
from core.swarm.trust.audit import account_in
from core.swarm.trust.claims import read_claim

READERS: dict[str, tuple[Callable[[bytes], object], tuple[type[Exception], ...]]] = {
    "accusations": (accusations_in, ()),
    "work": (works_in, ()),
    "questions of audits": (question_in, ()),
    "answers of audits": (lambda data: account_in(data, 2), ()),
    "claims": (read_claim, ()),
    "sketches": (sketch_in, ()),
    "questions for sketches": (lambda data: read_epoch(averaging_pb2.DownloadData(metadata=data)), (BadState,)),
    "update chains": (parse_record, ()),
    "chains in a state": (chain_of, ()),
    "statements": (verify, (BadStatement,)),
    "the organiser's record": (lambda data: verify_record(data, [], "run"), ()),
    "records": (is_readable, ()),
    "records at a subkey": (lambda data: is_acceptable(data, data, 2.0, 1.0), ()),
    "calls back": (dial_back._requests.decode, dial_back._BROKEN),
}

_leaves = st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats() | st.text() | st.binary()
_names = st.text() | st.integers(0, 9)
STRUCTURES = st.recursive(
    _leaves, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(_names, inner, max_size=4)
)
_not_text = st.binary(min_size=4, max_size=4).map(lambda data: msgspec.Raw(b"\xa4" + data))
"""Says that it is text, and is mostly not UTF-8."""
ROWS = st.lists(st.lists(_leaves | _not_text, max_size=3), max_size=4)
"""As most messages are made."""
FOREIGN = st.binary(max_size=200) | (STRUCTURES | ROWS).map(msgspec.msgpack.encode)


@pytest.mark.parametrize("reader", READERS)
@example(data=b"[" * 100_000)
@example(data=b'{"a":' * 100_000)
@example(data=b"\x91" * 100_000)
@example(data=b"\x93" * 100_000)
@given(data=FOREIGN)
def test_what_a_stranger_sends_is_read_or_refused(reader: str, data: bytes) -> None:
    read, refusals = READERS[reader]
    with suppress(*refusals):
        read(data)


@pytest.mark.parametrize("target", sorted(TARGETS.keys() - {"engine socket"}))
def test_what_the_fuzzer_sends_is_read_or_refused(target: str) -> None:
    with TARGETS[target]() as (attempt, valid):
        for text in (*valid, *inputs(valid, 200)):
            attempt(text)
