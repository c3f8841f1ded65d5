"""What peers say of their work when they are asked themselves."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import psutil
import pytest
from hivemind import DHT
from hivemind.dht import DHTNode
from hivemind.p2p import P2PContext, PeerID
from hivemind.proto import averaging_pb2

from core.swarm.dht import work_questions
from core.swarm.dht.peer import LOOPBACK, join_swarm, own_addresses
from core.swarm.dht.work_questions import answer_with, ask
from tests.swarm.installed import installed
from tests.waiting import wait_for

KEY = "run_work"


@pytest.fixture
def opened(short_folder: Path) -> Iterator[ExitStack]:
    with installed(short_folder), ExitStack() as stack:
        yield stack


def join(opened: ExitStack, folder: Path, name: str, asker: DHT | None = None, listen: str | None = LOOPBACK) -> DHT:
    dht = join_swarm(own_addresses(asker) if asker else [], folder / f"{name}.key", listen)
    opened.callback(dht.shutdown)
    return dht


class _Garbage:
    def SerializeToString(self) -> bytes:  # noqa: N802 - of protobuf
        return b"\xff\xff\xff"


async def _answer_garbage(_request: averaging_pb2.DownloadRequest, _context: P2PContext) -> _Garbage:
    return _Garbage()


async def _serve(_dht: DHT, node: DHTNode, *, answer: object) -> None:
    await node.p2p.add_protobuf_handler(KEY, answer, averaging_pb2.DownloadRequest)


async def _forget_who_is_connected(_dht: DHT, node: DHTNode) -> None:
    async def list_peers() -> list[object]:
        raise EOFError

    node.p2p.list_peers = list_peers


def test_garbage_of_one_peer_is_a_refusal_and_cancels_no_other_answer(short_folder: Path, opened: ExitStack) -> None:
    asker = join(opened, short_folder, "asker")
    honest, liar = (join(opened, short_folder, name, asker) for name in ("honest", "liar"))
    answer_with(honest, KEY, b"work")
    liar.run_coroutine(partial(_serve, answer=_answer_garbage))
    nobody = PeerID(b"\x12\x20" + bytes(32))
    peers = [honest.peer_id, liar.peer_id, nobody]
    expected = {honest.peer_id: b"work", liar.peer_id: b"", nobody: None}
    wait_for(lambda: ask(asker, KEY, peers)[honest.peer_id], what="the answer")
    assert ask(asker, KEY, peers) == expected
    # Nor does a daemon that does not say who is connected.
    asker.run_coroutine(_forget_who_is_connected)
    assert ask(asker, KEY, peers) == expected


async def _answer_too_late(_request: averaging_pb2.DownloadRequest, _context: P2PContext) -> None:
    await asyncio.sleep(3600.0)


@pytest.mark.parametrize("calls_only", [False, True])
def test_who_answers_too_late_has_refused_if_it_answers_a_ping_and_is_asleep_if_not(
    short_folder: Path, opened: ExitStack, monkeypatch: pytest.MonkeyPatch, *, calls_only: bool
) -> None:
    monkeypatch.setattr(work_questions, "_TIMEOUT", 1.0)
    asker = join(opened, short_folder, "asker")
    before = set(_daemons())
    peer = join(opened, short_folder, "peer", asker, listen=None if calls_only else LOOPBACK)
    [daemon] = set(_daemons()) - before
    peer.run_coroutine(partial(_serve, answer=_answer_too_late))
    assert ask(asker, KEY, [peer.peer_id]) == {peer.peer_id: b""}
    daemon.suspend()
    try:
        assert ask(asker, KEY, [peer.peer_id]) == {peer.peer_id: None}
    finally:
        daemon.resume()


def _daemons() -> list[psutil.Process]:
    return [process for process in psutil.Process().children(recursive=True) if process.name().startswith("p2pd")]
