"""What `benchmarks.fuzz` sends that one peer sends another: messages of averaging, and states."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import msgspec
import numpy as np
import torch
from google.protobuf.message import DecodeError
from hivemind.averaging.allreduce import AveragingMode
from hivemind.averaging.group_info import GroupInfo
from hivemind.compression import CompressionInfo, Float16Compression, NoCompression, Uniform8BitQuantization
from hivemind.p2p import PeerID
from hivemind.proto import averaging_pb2, runtime_pb2
from hivemind.utils import MSGPackSerializer

from core.learning.order import Piece
from core.swarm.all_reduce.line_worth import Line
from core.swarm.averaging.audited import Question, question_in
from core.swarm.averaging.gradient_averager import EpochGradientAverager
from core.swarm.averaging.group import to_gather
from core.swarm.connectivity import dial_back
from core.swarm.dht.work_records import Accusation, Work, _Run, accusations_in, packed, work_of, works_in
from core.swarm.errors import BadState
from core.swarm.state.checks import digest_of, layout_of
from core.swarm.state.incoming import IncomingState, StateRequest, check_arrived
from core.swarm.state.sketch import FINE, is_same, sketch_in, sketch_of
from core.swarm.state.vouching import Testimony, read_epoch
from core.swarm.trust.audit import SUMS, Account, Rounding, account_in, liars
from core.swarm.trust.claims import Claim, as_counted, is_sound, is_whole
from core.swarm.trust.parts import DIGEST_SIZE, CheckedReducer, decoded
from core.swarm.trust.validation import Evidence

Try = Callable[[bytes], object]


@contextmanager
def averaging_messages() -> Iterator[tuple[Try, list[bytes]]]:
    """What members of a group say about themselves and each other, and the parts that they send."""
    loop, honest, shape = asyncio.new_event_loop(), PeerID(b"honest"), torch.Size((64,))
    user = MSGPackSerializer.dumps(to_gather(5, b"s" * 16, Line(1e6, can_reduce=True), adds_samples=True))
    own = Claim(1e6, AveragingMode.NODE.value, user).packed()

    async def reduce(message: averaging_pb2.AveragingData) -> None:
        reducer = CheckedReducer((shape,), 1)
        reducer.own_index, reducer.dropped = None, set()
        reducer.most_weight, reducer.on_fault = lambda _sender: 16.0, lambda _sender, _offence: None
        reducer.make_robust()
        reducer.on_nothing = reducer.finalize
        with suppress(asyncio.CancelledError):  # the round ends
            await reducer.accumulate_part(0, 0, decoded(message.tensor_part), message.weight)

    def read(text: bytes) -> None:
        is_sound(text, own, EpochGradientAverager.fits)
        account_in(text, 2)
        question_in(text)
        for part in parts:
            loop.run_until_complete(reduce(averaging_pb2.AveragingData(tensor_part=_with(part, text), weight=1.0)))
        # What is no message at all ends the stream before anybody here sees it.
        with suppress(DecodeError):
            loop.run_until_complete(reduce(averaging_pb2.AveragingData.FromString(text)))
        with suppress(DecodeError):
            leader = averaging_pb2.MessageFromLeader.FromString(text)
            group = GroupInfo(leader.group_id, tuple(map(PeerID, leader.ordered_peer_ids)), tuple(leader.gathered))
            if is_whole(group, honest, honest, own):
                as_counted(group)

    codecs = (NoCompression(), Float16Compression(), Uniform8BitQuantization())
    parts = [codec.compress(torch.randn(shape), CompressionInfo.from_tensor(torch.randn(shape))) for codec in codecs]
    messages = [averaging_pb2.AveragingData(group_id=b"group", tensor_part=part, weight=2.0) for part in parts]
    valid = [own, *(part.buffer for part in parts), *(message.SerializeToString() for message in messages)]
    group = {"ordered_peer_ids": [b"honest", b"other"], "gathered": [own, own], "group_id": b"group"}
    rows = np.ones((2, 16))
    account = Account(2.0, rows, rows, rows[:, 0], rows[0], [b"digest".ljust(DIGEST_SIZE)] * 2)
    valid += [account.packed(), msgspec.msgpack.encode(Question(b"group", b"s" * 16))]
    yield read, [*valid, averaging_pb2.MessageFromLeader(**group).SerializeToString()]
    loop.close()


@contextmanager
def state_streams() -> Iterator[tuple[Try, list[bytes]]]:
    """A donor's messages: its announcement and the tensors; and a sketch."""
    tensors = [torch.randn(6, 5), torch.randn(3).half()]
    request = StateRequest(layout_of(tensors), 1, 0, 10, 1.0)

    def receive(stream: list[averaging_pb2.DownloadData]) -> None:
        incoming = IncomingState(request)
        # Whatever a donor's message does ends its download, and is the reason that is given.
        with suppress(Exception):
            for message in stream:
                incoming.add(message)
            check_arrived(incoming.finish(), Testimony(), request)

    def read(text: bytes) -> None:
        receive([averaging_pb2.DownloadData(metadata=text, tensor_part=parts[0]), messages[1]])
        receive([averaging_pb2.DownloadData(metadata=metadata, tensor_part=_with(parts[0], text)), messages[1]])
        sketch = sketch_in(text)
        if sketch is not None:
            is_same(sketch, tensors, 1, FINE)
        with suppress(DecodeError):
            message = averaging_pb2.DownloadData.FromString(text)
            receive([message, message])

    metadata = MSGPackSerializer.dumps({"epoch": 5, "digest": digest_of(tensors), "updates": []})
    parts = [NoCompression().compress(tensor, CompressionInfo.from_tensor(tensor)) for tensor in tensors]
    messages = [averaging_pb2.DownloadData(metadata=metadata, tensor_part=part) for part in parts]
    sketch = msgspec.msgpack.encode(sketch_of(5, tensors, b"s" * 16))
    yield read, [*(message.SerializeToString() for message in messages), metadata, parts[0].buffer, sketch]


@contextmanager
def judgements() -> Iterator[tuple[Try, list[bytes]]]:
    """What members say of their work, whom they accuse, what they say of a round when they are audited, and what others
    ask: read, and judged as a validator and an auditor do."""
    chance, members = np.random.default_rng(0), 4
    rows = chance.normal(size=(members, SUMS))
    account = Account(16.0, rows, rows, np.full(members, 16.0), rows[0], [b"digest".ljust(DIGEST_SIZE)] * members)
    honest = dict.fromkeys(range(members - 1), account)
    rounding, received = Rounding(0.3, 0.3, [1e-6] * members), np.tile(rows[0], (members, 1))
    evidence = Evidence("peer", b"slot", 7, 16.0, 0, 8, 1.0, (0.0,) * 8, b"s" * 16)

    def read(text: bytes) -> None:
        accusations_in(text)
        for work in works_in(text):
            evidence.is_supported_by(work.pieces(), 96)
        if (said := account_in(text, members)) is not None:
            told = {**honest, members - 1: said}
            liars(0, told, received, [32.0] * members, shares=[SUMS] * members, rounding=rounding)
        question_in(text)
        with suppress(BadState):
            read_epoch(averaging_pb2.DownloadData(metadata=text))
        with suppress(*dial_back._BROKEN):
            dial_back._requests.decode(text)

    pieces = [Piece(7, 4 * number, 4) for number in range(4)]
    longest = packed([Work(7, 1, (_Run(Piece(7, 0, 1), 1 << 16),))])
    accused = msgspec.msgpack.encode((Accusation("peer", 5.0), Accusation("other", 6.0)))
    called = msgspec.json.encode(dial_back.Request((4001,), "peer"))
    question = msgspec.msgpack.encode(Question(b"group", b"s" * 16))
    yield read, [packed([work_of(7, pieces, 16)]), longest, accused, account.packed(), question, called]


def _with(part: runtime_pb2.Tensor, buffer: bytes) -> runtime_pb2.Tensor:
    # A message that is changed again and again keeps the memory of all its buffers.
    changed = runtime_pb2.Tensor()
    changed.CopyFrom(part)
    changed.buffer = buffer
    return changed
