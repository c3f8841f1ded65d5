"""Real peers that ask a real backbone to call them back."""

import asyncio
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from hivemind import DHT
from hivemind.dht.node import DHTNode

from core.swarm.connectivity.dial_back import Answer, ask_to_be_called, serve_dial_backs
from core.swarm.dht.peer import LOOPBACK, join_swarm, own_addresses
from tests.fakes.http_server import refusing_port
from tests.swarm.installed import installed

Join = Callable[[str, str | None], DHT]


@pytest.fixture
def backbone(short_folder: Path) -> Iterator[DHT]:
    with installed(short_folder):
        made = join_swarm([], short_folder / "backbone.key")
        serve_dial_backs(made)
        yield made
        made.shutdown()


@pytest.fixture
def join(short_folder: Path, backbone: DHT) -> Iterator[Join]:
    made: list[DHT] = []

    def joined(name: str, listen: str | None) -> DHT:
        made.append(join_swarm(own_addresses(backbone), short_folder / f"{name}.key", listen))
        return made[-1]

    yield joined
    for dht in made:
        dht.shutdown()


def ask(peer: DHT, backbone: DHT, *ports: int, by_ipv4: bool = False) -> bool | None:
    """As often as it takes until the backbone has time."""
    asked = partial(ask_to_be_called, peer, own_addresses(backbone), ports, by_ipv4=by_ipv4)
    while (answer := asked()) is not None and answer.reached is None:
        time.sleep(0.5)
    assert answer is not None
    assert answer.address == "127.0.0.1"
    return answer.reached


def port_of(dht: DHT) -> int:
    return int(own_addresses(dht)[0].split("/")[4])


def test_a_peer_that_listens_is_reached_at_its_port_and_at_no_other(backbone: DHT, join: Join) -> None:
    peer = join("peer", LOOPBACK)
    with refusing_port() as nobody:
        assert ask(peer, backbone, nobody, port_of(peer)) is True
        assert ask(peer, backbone, nobody) is False


def test_another_peer_at_that_port_is_not_taken_for_it(backbone: DHT, join: Join) -> None:
    neighbour, peer = join("neighbour", LOOPBACK), join("peer", None)
    assert ask(peer, backbone, port_of(neighbour)) is False


def test_a_second_daemon_asks_for_the_peer_by_ipv4(backbone: DHT, join: Join) -> None:
    peer = join("peer", LOOPBACK)
    with refusing_port() as nobody:
        for port, reached in ((port_of(peer), True), (nobody, False)):
            assert ask(peer, backbone, port, by_ipv4=True) is reached


def test_nobody_makes_a_backbone_call_again_and_again(backbone: DHT, join: Join) -> None:
    peer = join("peer", None)
    with refusing_port() as nobody:
        answers = [ask_to_be_called(peer, own_addresses(backbone), [nobody]) for _ in range(4)]
    assert answers[1:] == [Answer("127.0.0.1", None)] * 3


def test_nonsense_gets_no_answer(backbone: DHT, join: Join) -> None:
    peer = join("peer", None)
    for ports in (b"", b"[]", b"[22]", b"[2222,2222,2222,2222,2222]", b'["a"]', b'[2222],"peer":"0"'):
        data = b'{"ports":' + ports + b"}\n"
        assert peer.run_coroutine(partial(_send, to=backbone.peer_id, data=data)) == b""


def test_a_backbone_that_does_not_serve_this_is_no_answer(short_folder: Path) -> None:
    with installed(short_folder):
        old = join_swarm([], short_folder / "old.key")
        peer = join_swarm(own_addresses(old), short_folder / "peer.key", None)
        assert ask_to_be_called(peer, own_addresses(old), [4001]) is None
        peer.shutdown()
        old.shutdown()


async def _send(_dht: DHT, node: DHTNode, *, to: object, data: bytes) -> bytes:
    async with asyncio.timeout(10):
        _info, reader, writer = await node.p2p.call_binary_stream_handler(to, "/idlehive/dial-back/1")
        writer.write(data)
        answer: bytes = await reader.read()
        writer.close()
        return answer
