"""Whom a donor gives its state to when several ask."""

import asyncio
import threading
from typing import AsyncIterator, TypeAlias  # noqa: UP035 - hivemind knows only this one as a stream

from hivemind.p2p import P2PContext, PeerID
from hivemind.proto import averaging_pb2
from hivemind.utils import MPFuture

from core.swarm.averaging.state_averager import CheckedStateAverager
from core.swarm.state.giving import Turns
from tests.swarm.state_swarm import Swarm, digest, take

# hivemind reads the annotations of a call.
Request: TypeAlias = averaging_pb2.DownloadData
Response: TypeAlias = AsyncIterator[averaging_pb2.DownloadData]


def test_who_has_had_its_turn_lets_others_go_first_as_long_as_they_ask() -> None:
    turns = Turns()
    assert turns.may_begin("a", 0.0)
    turns.turn_away("b", 1.0)
    assert not turns.may_begin("a", 2.0)
    assert turns.may_begin("b", 3.0)
    turns.turn_away("a", 3.5)
    turns.turn_away("b", 4.0)
    assert turns.may_begin("a", 4.5)
    assert turns.may_begin("a", 10.0), "the other has not asked again"


def test_peers_at_one_address_wait_for_nobody_but_others() -> None:
    turns = Turns()
    assert turns.may_begin("household", 0.0)
    turns.turn_away("household", 1.0)
    assert turns.may_begin("household", 2.0)


class Pulled(CheckedStateAverager):
    """Asks for a state without using it."""

    async def _pull(self, donor: bytes, future: MPFuture) -> None:
        stream = await self.get_stub(self._p2p, PeerID(donor), namespace=self.prefix).rpc_download_state(
            averaging_pb2.DownloadData()
        )
        future.set_result(sum([len(message.tensor_part.buffer) async for message in stream]))


class Slow(CheckedStateAverager):
    """Has a slow line."""

    async def rpc_download_state(self, request: Request, context: P2PContext) -> Response:
        async for message in super().rpc_download_state(request, context):
            await asyncio.sleep(0.1)
            yield message


def test_a_peer_that_asks_again_and_again_leaves_a_newcomer_its_turn(swarm: Swarm) -> None:
    donor = swarm.donor(Slow)
    greedy = [swarm.peer(Pulled, listen="/ip4/127.0.0.2/tcp/0") for _ in range(3)]
    newcomer = swarm.peer(listen="/ip4/127.0.0.3/tcp/0")
    swarm.until_announced(newcomer, 1)
    stop = threading.Event()
    pulling = [threading.Thread(target=pull, args=(each, donor, stop)) for each in greedy]
    for thread in pulling:
        thread.start()
    try:
        swarm.until(lambda: donor.states_given > 0)
        before = donor.states_given
        swarm.until(lambda: take(newcomer))
        assert donor.states_given <= before + 2
        assert digest(newcomer) == digest(donor)
    finally:
        stop.set()
        for thread in pulling:
            thread.join()


def pull(averager: CheckedStateAverager, donor: CheckedStateAverager, stop: threading.Event) -> None:
    while not stop.is_set():
        future: MPFuture[int] = MPFuture()
        averager._outer_pipe.send(("_pull", [donor.peer_id.to_bytes()], {"future": future}))
        future.result(20.0)
