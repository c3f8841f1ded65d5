from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from hivemind import DHT
from hivemind.dht.node import DHTNode
from hivemind.p2p import P2PDaemonError, PeerID

from core.swarm.dht.peer import LOOPBACK, join_swarm, listen_addresses, own_addresses
from tests.swarm.installed import installed

FAR = ["/ip4/192.0.2.1/tcp/31337/p2p/Qm"]
HOP, PING = "/libp2p/circuit/relay/0.2.0/hop", "/ipfs/ping/1.0.0"
"""Protocols of libp2p: to have a connection relayed, and to be answered."""


@pytest.mark.parametrize(
    ("peers", "port", "maps_port", "expected"),
    [
        (FAR, 0, False, ()),
        (FAR, 4001, False, ("/ip4/0.0.0.0/tcp/4001", "/ip6/::/tcp/4001")),
        (FAR, 4001, True, ("/ip4/0.0.0.0/tcp/4001", "/ip6/::/tcp/4001")),
        (["/ip4/127.0.0.1/tcp/1/p2p/Qm"], 4001, True, (LOOPBACK,)),
        (["/ip4/127.0.0.1/tcp/1/p2p/Qm", *FAR], 0, False, ()),
    ],
)
def test_a_volunteer_listens_on_the_chosen_port_and_otherwise_not_at_all(
    peers: list[str], port: int, maps_port: bool, expected: tuple[str, ...]
) -> None:
    assert listen_addresses(peers, port, maps_port=maps_port) == expected


def test_for_a_mapped_port_any_free_one_does_and_both_protocols_have_the_same() -> None:
    ports = {address.rsplit("/", 1)[1] for address in listen_addresses(FAR, 0, maps_port=True)}
    assert len(ports) == 1
    assert ports != {"0"}


@pytest.mark.parametrize("listen", [LOOPBACK, None])
def test_a_peer_relays_for_nobody(short_folder: Path, listen: str | None) -> None:
    with installed(short_folder):
        backbone = join_swarm([], short_folder / "backbone.key")
        peer = join_swarm(own_addresses(backbone), short_folder / "peer.key", listen)
        assert backbone.run_coroutine(partial(_supported, by=peer.peer_id, protocols=(HOP, PING))) == [PING]
        peer.shutdown()
        backbone.shutdown()


async def _supported(_dht: DHT, node: DHTNode, *, by: PeerID, protocols: Sequence[str]) -> list[str]:
    found = []
    for protocol in protocols:
        with suppress(P2PDaemonError):
            _info, _reader, writer = await node.p2p._client.stream_open(by, [protocol])
            writer.close()
            found.append(protocol)
    return found
