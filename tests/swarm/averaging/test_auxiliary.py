"""A peer without samples averages with those who cannot be called, and keeps the run when they have left."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.network.peers.churn_peer import AUXILIARY
from tests.swarm.averaging.peers.small_peer import Peer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_two_who_only_call_others_train_through_a_peer_without_samples(short_folder: Path, opened: ExitStack) -> None:
    auxiliary = Peer(short_folder, "auxiliary", AUXILIARY, listens=True)
    opened.callback(auxiliary.leave)
    trainers = [Peer(short_folder, f"client{number}", 0.1, auxiliary.address) for number in range(2)]
    for trainer in trainers:
        opened.callback(trainer.leave)
    for trainer in trainers:
        trainer.until(4)
    everybody = [auxiliary, *trainers]
    together = [epoch for epoch in trainers[0].updates if all(peer.updates.get(epoch) for peer in everybody)]
    assert together
    for epoch in together:
        assert len({peer.updates[epoch]["digest"] for peer in everybody}) == 1
        assert auxiliary.updates[epoch]["samples"] == 0
    assert max(update["peers"] for update in trainers[0].updates.values()) == 3
    assert [event for trainer in trainers for event in trainer.events if "failure" in event] == []


def test_the_run_goes_on_where_it_was_after_all_trainers_have_left(short_folder: Path, opened: ExitStack) -> None:
    auxiliary = Peer(short_folder, "auxiliary", AUXILIARY, listens=True)
    opened.callback(auxiliary.leave)
    first = Peer(short_folder, "first", 0.02, auxiliary.address)
    first.until(2)
    first.leave()
    last = max(first.updates)
    assert max(auxiliary.updates) == last
    second = Peer(short_folder, "second", 0.02, auxiliary.address)
    opened.callback(second.leave)
    second.until(last + 1)
    assert min(second.updates) == last + 1
