"""The run's state on its way from one real peer to another."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, AsyncIterator, TypeAlias  # noqa: UP035 - hivemind knows only this one as a stream

import pytest
from hivemind.p2p import P2PContext
from hivemind.proto import averaging_pb2
from hivemind.utils import MPFuture

from core.api.session_settings import Limits
from core.swarm.averaging.state_averager import CheckedStateAverager
from core.swarm.errors import BadState
from core.swarm.state.transfer import each_within
from core.swarm.traffic.link import Link
from tests.swarm.state_swarm import EPOCH, Swarm, digest, take, train

# hivemind reads the annotations of a call.
Request: TypeAlias = averaging_pb2.DownloadData
Response: TypeAlias = AsyncIterator[averaging_pb2.DownloadData]

CEILING = 240_000


def test_a_state_arrives_whole_with_epoch_and_learning_rate_and_costs_its_size_once(swarm: Swarm) -> None:
    donor = swarm.donor()
    taker = swarm.peer()
    swarm.until_announced(taker, 1)
    before = swarm.state_bytes
    assert take(taker)
    assert taker.local_epoch == EPOCH
    assert digest(taker) == digest(donor)
    assert taker.optimizer.param_groups[0]["lr"] == donor.optimizer.param_groups[0]["lr"]
    assert taker.state_received == taker.state_size()
    assert taker.state_size() <= swarm.state_bytes - before <= 1.1 * taker.state_size()
    assert donor.states_given == 1


def test_a_donor_that_announces_an_older_epoch_is_not_asked(swarm: Swarm) -> None:
    donor = swarm.donor()
    taker = swarm.peer()
    swarm.until_announced(taker, 1)
    before = swarm.state_bytes
    assert not take(taker, known=EPOCH + 1)
    assert swarm.state_bytes == before
    assert donor.states_given == 0


class Endless(CheckedStateAverager):
    async def rpc_download_state(self, request: Request, context: P2PContext) -> Response:
        async for message in super().rpc_download_state(request, context):
            yield message
        while True:
            yield message


def test_a_state_is_taken_once_it_is_whole_whatever_its_donor_still_sends(swarm: Swarm) -> None:
    donor, taker = swarm.donor(Endless), swarm.peer()
    swarm.until_announced(taker, 1)
    assert take(taker)
    assert digest(taker) == digest(donor)


class InRound(CheckedStateAverager):
    async def _average_tensors(self, count: int, future: MPFuture[None]) -> None:
        """What hivemind does in a round with each tensor that it has averaged."""
        for _ in range(count):
            self._state_updated.set()
            await asyncio.sleep(0.01)
        future.set_result(None)


def test_a_round_of_many_tensors_announces_the_state_once(swarm: Swarm) -> None:
    """hivemind announces it once for each of them, and every announcement is a search in the DHT."""
    donor, taker = swarm.donor(InRound), swarm.peer()
    swarm.until_announced(taker, 1)

    def announced_after(tensors: int, epoch: int) -> int:
        """Bytes of the DHT until the epoch is announced."""
        before = swarm.link.meter.by_kind()["dht"][0]
        future: MPFuture[None] = MPFuture()
        donor._outer_pipe.send(("_average_tensors", [tensors], {"future": future}))
        future.result(timeout=20.0)
        donor.state_sharing_priority = epoch
        swarm.until(lambda: taker.donors() == [(donor.peer_id, epoch)])
        return swarm.link.meter.by_kind()["dht"][0] - before

    once = announced_after(0, EPOCH + 1)
    assert announced_after(100, EPOCH + 2) < 10 * once


class Slow(CheckedStateAverager):
    async def rpc_download_state(self, request: Request, context: P2PContext) -> Response:
        async for message in super().rpc_download_state(request, context):
            await asyncio.sleep(0.3)
            yield message


def in_background(act: Callable[[], None]) -> Any:
    thread = threading.Thread(target=act)
    thread.start()
    return thread


def test_of_donors_with_the_same_epoch_the_backbone_is_asked_first(swarm: Swarm) -> None:
    donors = [swarm.donor(), swarm.donor()]
    taker = swarm.peer()
    swarm.until_announced(taker, 2)
    for backbone in donors:
        taker.backbone = [backbone.peer_id]
        assert {taker.donors()[0][0] for _ in range(20)} == {backbone.peer_id}


def test_one_state_is_given_at_a_time_and_others_are_refused_at_once(swarm: Swarm) -> None:
    donor = swarm.donor(Slow)
    first, second = swarm.peer(), swarm.peer()
    swarm.until_announced(first, 1)
    swarm.until_announced(second, 1)
    fetching = in_background(lambda: first.load_state_from_peers(known_epoch=EPOCH))
    swarm.until(lambda: first.state_received > 0)
    begin = time.monotonic()
    assert not take(second)
    assert time.monotonic() - begin < 1.0
    fetching.join()
    assert first.state_was_loaded
    # The donor learns a moment later than the taker that all has arrived.
    swarm.until(lambda: take(second))
    assert donor.states_given == 2


def test_a_download_that_is_no_longer_wanted_is_dropped_at_once_and_the_donor_is_free(swarm: Swarm) -> None:
    donor = swarm.donor(Slow)
    first, second = swarm.peer(), swarm.peer()
    swarm.until_announced(first, 1)
    swarm.until_announced(second, 1)
    before = digest(first)
    leaving = threading.Event()
    fetching = in_background(lambda: first.load_state_from_peers(known_epoch=EPOCH, stop=leaving.is_set))
    swarm.until(lambda: first.state_received > 0)
    leaving.set()
    begin = time.monotonic()
    fetching.join()
    assert time.monotonic() - begin < 1.0
    assert not first.state_was_loaded
    assert digest(first) == before
    received = first.state_received
    assert take(second)
    assert donor.states_given == 1
    assert first.state_received == received < first.state_size()


def test_there_are_never_two_downloads_at_once(swarm: Swarm, caplog: pytest.LogCaptureFixture) -> None:
    """Two donors, so that it is not one of them who refuses."""
    swarm.donor(Slow)
    swarm.donor(Slow)
    taker = swarm.peer()
    swarm.until_announced(taker, 2)
    before = swarm.state_bytes
    first = in_background(lambda: taker.load_state_from_peers(known_epoch=EPOCH))
    swarm.until(lambda: taker.state_received > 0)
    taker.load_state_from_peers(known_epoch=EPOCH)
    assert not taker.state_was_loaded
    assert caplog.text.count("download_running") == 2
    first.join()
    assert taker.state_was_loaded
    assert taker.state_size() <= swarm.state_bytes - before <= 1.1 * taker.state_size()


def test_who_is_to_stop_asks_nobody(swarm: Swarm) -> None:
    donor = swarm.donor()
    taker = swarm.peer()
    swarm.until_announced(taker, 1)
    before = swarm.state_bytes
    taker.load_state_from_peers(known_epoch=EPOCH, stop=lambda: True)
    assert not taker.state_was_loaded
    assert swarm.state_bytes == before
    assert donor.states_given == 0


@pytest.fixture
def ceiling(link: Link) -> Iterator[int]:
    """Bytes per second: a state takes three seconds."""
    link.apply(Limits(download_limit=CEILING))
    yield CEILING
    link.apply(Limits())


@pytest.fixture
def taker(swarm: Swarm, ceiling: int) -> CheckedStateAverager:
    """Somebody under the ceiling, and a donor."""
    swarm.donor()
    made = swarm.peer()
    # As in a session; what stalls is told from what is slow by more than the second of the other tests.
    made.next_chunk_timeout = 15.0
    swarm.until_announced(made, 1)
    return made


def test_a_state_comes_under_the_ceiling(taker: CheckedStateAverager, ceiling: int) -> None:
    begin = time.monotonic()
    assert take(taker)
    assert taker.state_size() / (time.monotonic() - begin) <= 1.05 * ceiling


def test_a_deadline_that_moves_while_a_state_is_on_its_way_counts_at_once(
    swarm: Swarm, taker: CheckedStateAverager
) -> None:
    """The time limit follows the volunteer's ceiling, which may change at any moment."""
    taker.receive_timeout = 2.0
    fetching = in_background(lambda: taker.load_state_from_peers(known_epoch=EPOCH))
    swarm.until(lambda: taker.state_received > 0)
    taker.receive_timeout = 30.0
    fetching.join()
    assert taker.state_was_loaded
    taker.local_epoch = 0
    fetching = in_background(lambda: taker.load_state_from_peers(known_epoch=EPOCH))
    swarm.until(lambda: 0 < taker.state_received < taker.state_size())
    taker.receive_timeout = 0.5
    fetching.join()
    assert not taker.state_was_loaded


def test_a_state_given_while_its_owner_trains_on_is_of_one_epoch(swarm: Swarm) -> None:
    donor = swarm.donor(Slow)
    taker = swarm.peer()
    swarm.until_announced(taker, 1)
    before = digest(donor)
    fetching = in_background(lambda: taker.load_state_from_peers(known_epoch=EPOCH))
    swarm.until(lambda: taker.state_received > 0)
    train(donor, 3)
    fetching.join()
    assert taker.state_was_loaded
    assert taker.local_epoch == EPOCH
    assert digest(taker) == before != digest(donor)


def test_a_kept_state_is_taken_back_even_if_it_is_older_and_the_schedule_goes_on_from_there(swarm: Swarm) -> None:
    peer = swarm.donor()
    metadata, tensors = peer.snapshot()
    kept = digest(peer)
    train(peer, 2)
    peer.adopt((metadata, tensors))
    assert peer.local_epoch == EPOCH
    assert digest(peer) == kept
    rate = peer.optimizer.param_groups[0]["lr"]
    train(peer, 1)
    assert peer.optimizer.param_groups[0]["lr"] == pytest.approx(rate * (EPOCH + 2) / (EPOCH + 1))
    with pytest.raises(BadState, match="state_of_other_model"):
        peer.adopt((metadata, tensors[:-1]))


def test_a_download_ends_when_it_is_dropped_in_the_very_moment_in_which_a_message_comes() -> None:
    async def endless() -> AsyncIterator[int]:
        while True:
            await asyncio.sleep(0)
            yield 0

    async def read() -> None:
        async for _ in each_within(60.0, endless()):
            pass

    async def drop(turns: int) -> None:
        """After so many turns of the loop."""
        reading = asyncio.ensure_future(read())
        for _ in range(turns):
            await asyncio.sleep(0)
        reading.cancel()
        for _ in range(20):
            await asyncio.sleep(0)
        assert reading.cancelled(), turns

    for turns in range(20):
        asyncio.run(drop(turns))
