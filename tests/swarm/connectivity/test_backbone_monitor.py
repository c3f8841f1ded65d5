"""Peers that lost sight of each other, with real DHTs."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import psutil
import pytest
from hivemind import DHT
from hivemind.dht.node import DHTNode
from hivemind.p2p import PeerID

from core.swarm.connectivity import backbone_monitor
from core.swarm.connectivity.backbone_monitor import BackboneMonitor
from core.swarm.dht.organiser import RunRecordPublisher
from core.swarm.dht.peer import join_swarm, own_addresses
from tests.swarm.installed import installed
from tests.waiting import wait_for


@pytest.fixture
def swarm(short_folder: Path) -> Iterator[list[DHT]]:
    """The backbone, and two peers that know it."""
    with installed(short_folder):
        made = [join_swarm([], short_folder / "backbone.key")]
        made += [join_swarm(own_addresses(made[0]), short_folder / f"{name}.key") for name in ("one", "two")]
        yield made
        for dht in made:
            if dht.is_alive():
                dht.shutdown()


async def _lose_everybody(_dht: DHT, node: DHTNode) -> None:
    """As after a while without a network: every request failed."""
    table = node.protocol.routing_table
    for peer, place in list(table.peer_id_to_uid.items()):
        del table[place]
        for _ in range(5):
            node.blacklist.register_failure(peer)
            node.blacklist.banned_peers.clear()
        node.blacklist.register_failure(peer)


async def _known(_dht: DHT, node: DHTNode) -> set[str]:
    return {str(peer) for peer in node.protocol.routing_table.peer_id_to_uid if peer not in node.blacklist}


def known_to(dht: DHT) -> set[str]:
    found: set[str] = dht.run_coroutine(_known)
    return found


def test_who_lost_everybody_finds_backbone_and_peers_again(swarm: list[DHT]) -> None:
    backbone, one, two = swarm
    monitor = BackboneMonitor(one, [backbone.peer_id])
    one.run_coroutine(_lose_everybody)
    assert known_to(one) == set()
    assert monitor.ask()
    assert monitor.is_near()
    assert known_to(one) >= {str(backbone.peer_id), str(two.peer_id)}


def test_without_the_backbone_those_who_met_stay_together(swarm: list[DHT]) -> None:
    backbone, one, two = swarm
    monitor = BackboneMonitor(one, [backbone.peer_id])
    assert monitor.ask()
    backbone.shutdown()
    one.run_coroutine(_lose_everybody)
    assert not monitor.ask()
    assert known_to(one) == {str(two.peer_id)}


def test_a_backbone_that_does_not_answer_is_no_company(swarm: list[DHT]) -> None:
    backbone, one, _two = swarm
    monitor = BackboneMonitor(one, [backbone.peer_id])
    assert monitor.is_near(), "joining was an answer"
    backbone.shutdown()
    assert not monitor.ask()
    assert not monitor.is_near()


def test_a_backbone_that_is_gone_is_noticed_in_its_record_too(
    swarm: list[DHT], monkeypatch: pytest.MonkeyPatch
) -> None:
    backbone, one, _two = swarm
    monitor, silences = BackboneMonitor(one, [backbone.peer_id], "run"), list[bool]()
    monitor.on_silence = lambda: silences.append(monitor.is_near())
    monkeypatch.setattr(backbone_monitor, "EVERY", 0.01)
    backbone.shutdown()
    monitor.start()
    try:
        wait_for(lambda: False in silences, 60.0)
    finally:
        monitor.stop()
        monitor.join(30.0)


def test_the_record_is_read_again_and_again_however_often_others_ask(
    swarm: list[DHT], short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Asked(BackboneMonitor):
        """Beside which another thread asks as often."""

        def ask(self, *, heard_within: float = 0.0) -> bool:
            super().ask(heard_within=heard_within)
            return super().ask(heard_within=heard_within)

    backbone, one, _two = swarm
    RunRecordPublisher(backbone, "run", short_folder / "backbone.key").publish(3, 1000.0)
    monitor, words = Asked(one, [backbone.peer_id], "run"), list[int | None]()
    monitor.on_word = lambda: words.append(monitor.run_epoch)
    BackboneMonitor.ask(monitor)
    monkeypatch.setattr(backbone_monitor, "EVERY", 0.01)
    monitor.start()
    try:
        wait_for(lambda: len(words) > 2, 30.0)
    finally:
        monitor.stop()
        monitor.join(30.0)
    assert set(words) == {3}


async def _suspend(_dht: DHT, node: DHTNode, peer: PeerID) -> None:
    node.blacklist.register_failure(peer)


def test_a_backbone_that_this_peer_does_not_ask_for_a_while_is_pinged_although_it_was_heard(swarm: list[DHT]) -> None:
    """Only an answer ends that; whatever is stored meanwhile goes past the backbone."""
    backbone, one, _two = swarm
    monitor = BackboneMonitor(one, [backbone.peer_id])
    assert monitor.ask()
    one.run_coroutine(partial(_suspend, peer=backbone.peer_id))
    assert str(backbone.peer_id) not in known_to(one)
    assert monitor.ask(heard_within=60.0)
    assert str(backbone.peer_id) in known_to(one)


def test_a_dht_that_is_gone_is_no_answer(swarm: list[DHT]) -> None:
    backbone, one, _two = swarm
    monitor = BackboneMonitor(one, [backbone.peer_id])
    one.shutdown()
    assert not monitor.ask()


def test_a_backbone_from_which_something_has_come_is_not_pinged(swarm: list[DHT]) -> None:
    backbone, one, _two = swarm
    monitor = BackboneMonitor(one, [backbone.peer_id])
    assert monitor.ask()
    with ExitStack() as opened:
        suspend(backbone, opened)
        assert monitor.ask(heard_within=60.0), "it was heard a moment ago"
        assert not monitor.ask()
        assert not monitor.ask(heard_within=60.0), "it has given no answer since"
    wait_for(monitor.ask, 60.0)
    backbone.get("anything", latest=True)
    assert monitor.ask(heard_within=60.0)


async def _connected(_dht: DHT, node: DHTNode) -> set[str]:
    return {str(info.peer_id) for info in await node.p2p.list_peers()}


def suspend(dht: DHT, opened: ExitStack) -> None:
    """Its computer does not answer any more, until the end of the test."""
    process = psutil.Process(dht.pid)
    for each in (process, *process.children(recursive=True)):
        each.suspend()
        opened.callback(each.resume)


def test_connections_are_closed_only_where_nobody_answers_any_more(
    swarm: list[DHT],
) -> None:
    backbone, one, two = swarm
    both = {str(backbone.peer_id), str(two.peer_id)}
    monitor = BackboneMonitor(one, [backbone.peer_id])
    assert monitor.ask()
    assert one.run_coroutine(_connected) == both
    with ExitStack() as opened:
        suspend(backbone, opened)
        assert not monitor.ask()
        assert one.run_coroutine(_connected) == both, "the other peer answers, so this computer is where it was"
        suspend(two, opened)
        assert not BackboneMonitor(one, []).ask()
        assert one.run_coroutine(_connected) == both, "a backbone has no backbone to lose"
        assert not monitor.ask()
        assert one.run_coroutine(_connected) == set()
