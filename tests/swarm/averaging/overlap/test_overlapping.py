"""Peers that compute on during their rounds: each sample counts in one update, once, whatever becomes of a round."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.swarm.averaging.overlap.overlapping_peer import BATCH, SAMPLES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

SLOW = 60_000
"""Bytes per second, at which a round takes some seconds."""
PATIENCE = 60.0


class Remote:
    """`overlapping_peer` in a process of its own, and its last answer."""

    def __init__(self, folder: Path, number: int, contact: str = "", *, overlap: str = "always") -> None:
        self._number, self._log = number, folder / f"{number}.log"
        subreaper = [sys.executable, "-m", "core.system.subreaper", str(folder / f"subreaper-{number}"), "--"]
        arguments = [str(folder), str(number), overlap, str(SLOW), *([contact] if contact else [])]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*subreaper, sys.executable, "-m", "tests.swarm.averaging.overlap.overlapping_peer", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.seen: dict[str, Any] = {}

    def ask(self, command: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(command, file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        assert line, self._log.read_text()
        self.seen = json.loads(line)
        return self.seen

    def until(self, condition: Callable[[dict[str, Any]], object], command: str = "follow") -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while not condition(self.ask(command)):
            assert time.monotonic() < deadline, (self.seen, self._log.read_text()[-3000:])
            time.sleep(0.05)
        return self.seen

    def end(self) -> None:
        """Leave in order."""
        if self._process.poll() is None:
            self._process.communicate(timeout=60)

    def vanish(self) -> None:
        """Its computer is switched off."""
        root = psutil.Process(self._process.pid)
        for process in [*root.children(recursive=True), root]:
            process.kill()
        self._process.wait()

    @property
    def own(self) -> set[int]:
        """The samples that it has computed."""
        return {self._number * SAMPLES + number for number in range(self.seen["computed"])}

    @property
    def counted(self) -> list[set[int]]:
        """The samples in each of its updates; each is in it once."""
        for update in self.seen["updates"]:
            assert len(set(update["samples"].values())) == 1, update
        return [{int(sample) for sample in update["samples"]} for update in self.seen["updates"]]


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def two(folder: Path, opened: ExitStack, overlap: str = "always") -> list[Remote]:
    """They know of each other, and each has a sample."""
    first = Remote(folder, 0)
    opened.callback(first.end)
    second = Remote(folder, 1, first.ask("look")["address"], overlap=overlap)
    opened.callback(second.end)
    for peer in (first, second):
        peer.ask("train")
    for peer in (first, second):
        peer.until(lambda seen: seen["peers"] == 2, "look")
    return [first, second]


@pytest.fixture
def peers(short_folder: Path, opened: ExitStack) -> list[Remote]:
    return two(short_folder, opened)


def begin_round(peers: list[Remote]) -> None:
    """Fill the batch, and wait until all average it."""
    deadline = time.monotonic() + PATIENCE
    for number in range(BATCH - sum(peer.seen["own"] for peer in peers)):
        peers[number % len(peers)].ask("train")
    while not all(peer.seen["running"] for peer in peers):
        assert time.monotonic() < deadline, [peer.seen for peer in peers]
        for peer in peers:
            peer.ask("look" if peer.seen["overlapping"] else "follow")


def disjoint(sets: list[set[int]]) -> set[int]:
    union = set().union(*sets)
    assert sum(map(len, sets)) == len(union)
    return union


def test_what_is_computed_during_a_round_counts_in_the_next_update_and_nothing_twice(peers: list[Remote]) -> None:
    for epoch in range(3):
        before = set().union(*(peer.own for peer in peers))
        begin_round(peers)
        in_the_round = set().union(*(peer.own for peer in peers))
        for peer in peers:
            seen = peer.ask("train")
            assert (seen["epoch"], seen["overlapping"]) == (epoch, True)
        for peer in peers:
            seen = peer.until(lambda seen: not seen["overlapping"])
            assert (seen["epoch"], seen["own"], seen["failure"]) == (epoch + 1, 1, None)
            assert before <= in_the_round == disjoint(peer.counted)
    assert peers[0].seen["digest"] == peers[1].seen["digest"]
    assert peers[0].counted == peers[1].counted


def test_who_has_the_next_batch_too_waits_for_the_round_and_begins_the_next_one_at_once(peers: list[Remote]) -> None:
    begin_round(peers)
    ahead, other = peers
    for _ in range(BATCH):
        assert ahead.seen["epoch"] == 0
        ahead.ask("train")
    assert (ahead.seen["epoch"], ahead.seen["own"], ahead.seen["overlapping"]) == (1, BATCH, True)
    ahead.ask("hold")
    other.until(lambda seen: seen["epoch"] == 1)
    assert len(ahead.counted[0]) == BATCH
    assert ahead.counted == other.counted


def test_one_who_computes_on_and_one_who_waits_make_the_same_updates(short_folder: Path, opened: ExitStack) -> None:
    computes_on, waits = two(short_folder, opened, overlap="never")
    for epoch in range(2):
        computes_on.until(lambda seen: seen["overlapping"], "train")
        with ThreadPoolExecutor() as beside:
            updated = beside.submit(waits.until, lambda seen: seen["epoch"] == epoch + 1)  # noqa: B023
            computes_on.until(lambda seen: seen["running"], "look")
            computes_on.ask("train")
            updated.result()
        computes_on.until(lambda seen: seen["epoch"] == epoch + 1)  # noqa: B023
        assert computes_on.seen["own"] == 1
        assert computes_on.seen["digest"] == waits.seen["digest"]
        assert computes_on.counted == waits.counted
    assert disjoint(computes_on.counted) < computes_on.own | waits.own


def test_a_round_whose_partner_vanishes_costs_no_sample(short_folder: Path, peers: list[Remote]) -> None:
    begin_round(peers)
    stays, goes = peers
    brought = stays.seen["own"]
    stays.ask("train")
    goes.vanish()
    seen = stays.until(lambda seen: seen["failure"])
    assert seen["epoch"] == 0
    assert not seen["overlapping"]
    assert seen["own"] == brought + 1
    # As soon as the one that is gone is forgotten, this one goes on alone; its batch has become full meanwhile.
    stays.until(lambda seen: seen["updates"], "train")
    assert stays.seen["updates"][0]["group"] == 1
    assert stays.counted[0] == stays.own


def test_a_pause_in_a_round_ends_it_for_all_with_the_samples_that_were_brought(peers: list[Remote]) -> None:
    begin_round(peers)
    held, goes_on = peers
    brought = held.seen["own"]
    held.ask("train")
    began = time.monotonic()
    held.ask("hold")
    assert time.monotonic() - began < 1.0
    assert held.seen["overlapping"]
    goes_on.until(lambda seen: seen["epoch"] == 1)
    held.until(lambda seen: seen["epoch"] == 1, "give_up_rounds")
    assert held.seen["updates"][0]["own"] == brought
    assert held.seen["own"] == 1
    assert held.counted == goes_on.counted
    assert held.seen["digest"] == goes_on.seen["digest"]
    held.ask("resume")
    begin_round(peers)
    for peer in peers:
        peer.until(lambda seen: seen["epoch"] == 2)
        assert disjoint(peer.counted) == held.own | goes_on.own


def test_a_pause_before_the_group_is_found_gives_the_search_up_and_keeps_the_samples(peers: list[Remote]) -> None:
    alone, other = peers
    # It may have looked for a group already, and is to be in none.
    other.ask("hold")
    other.ask("resume")
    alone.until(lambda seen: seen["overlapping"], "train")
    kept = alone.seen["own"]
    began = time.monotonic()
    alone.ask("hold")
    alone.until(lambda seen: not seen["overlapping"], "give_up_rounds")
    assert time.monotonic() - began < 2.0
    assert (alone.seen["epoch"], alone.seen["own"], alone.seen["updates"]) == (0, kept, [])


def test_who_leaves_in_a_round_makes_its_update_first(peers: list[Remote]) -> None:
    begin_round(peers)
    leaves, stays = peers
    leaves.ask("train")
    began = leaves.seen["epoch"]
    leaves.end()
    seen = stays.until(lambda seen: not seen["overlapping"])
    assert (seen["epoch"], seen["failure"]) == (began + 1, None)
    assert len(stays.counted[0]) == BATCH


def test_a_state_that_is_fetched_during_a_round_is_that_of_the_old_epoch(
    short_folder: Path, opened: ExitStack, peers: list[Remote]
) -> None:
    begin_round(peers)
    for peer in peers:
        peer.until(lambda seen: seen["epoch"] == 1)
    before = peers[0].seen["digest"]
    newcomer = Remote(short_folder, 2, peers[0].seen["address"])
    opened.callback(newcomer.end)
    newcomer.ask("look")
    begin_round(peers)
    # The two make no step meanwhile.
    newcomer.ask("load_state_from_peers")
    assert (newcomer.seen["epoch"], newcomer.seen["digest"]) == (1, before)
    for peer in peers:
        peer.until(lambda seen: seen["epoch"] == 2)
    newcomer.until(lambda seen: seen["epoch"] == 2)
    assert newcomer.seen["digest"] == peers[0].seen["digest"] != before
