"""A peer without samples averages with those who cannot be called, and keeps the run when they have left."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from core.swarm.dht.peer import LOOPBACK
from tests.network.churn_peer import AUXILIARY
from tests.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


class Peer:
    """`churn_peer` in a process of its own."""

    def __init__(self, folder: Path, name: str, pause: float, contact: str = "", *, listens: bool = False) -> None:
        leash = [sys.executable, "-m", "core.system.subreaper", str(folder / f"leash-{name}"), "--"]
        arguments = [str(folder), name, LOOPBACK if listens else "", str(pause), *([contact] if contact else [])]
        with (folder / f"{name}.log").open("wb") as log:
            self._process = subprocess.Popen(
                [*leash, sys.executable, "-m", "tests.network.churn_peer", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.said: list[dict[str, Any]] = []
        threading.Thread(target=self._listen, daemon=True).start()
        wait_for(lambda: self.said, 90.0, f"{name} has joined")

    def _listen(self) -> None:
        assert self._process.stdout is not None
        self.said.extend(map(json.loads, self._process.stdout))

    @property
    def address(self) -> str:
        return str(self.said[0]["address"])

    @property
    def updates(self) -> dict[int, dict[str, Any]]:
        return {said["epoch"]: said for said in list(self.said) if "epoch" in said}

    def until(self, epoch: int, seconds: float = 90.0) -> None:
        wait_for(lambda: max(self.updates, default=0) >= epoch, seconds, f"epoch {epoch}")

    def leave(self) -> None:
        self._process.communicate(timeout=60)


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
    assert [said for trainer in trainers for said in trainer.said if "trouble" in said] == []


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
