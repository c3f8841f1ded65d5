"""A donor's state counts only if it is that of the run: as the backbone has it or, without one, as most peers do."""

import asyncio
from typing import Any, AsyncIterator, TypeAlias  # noqa: UP035 - hivemind knows only this one as a stream

import pytest
import torch
from hivemind.p2p import P2PContext, PeerID
from hivemind.proto import averaging_pb2

from core.swarm.averaging.state_averager import CheckedStateAverager
from core.swarm.state.vouching import request_of
from tests.swarm.state.test_hostile_donors import Lying
from tests.swarm.state_swarm import EPOCH, Swarm, digest, take, train

# hivemind reads the annotations of a call.
Request: TypeAlias = averaging_pb2.DownloadData
Response: TypeAlias = AsyncIterator[averaging_pb2.DownloadData]


class Fresh(Lying):
    """Offers random parameters; all else is as it should be."""

    def change(self, metadata: Any, tensors: Any) -> Any:
        tensors[0] = torch.randn_like(tensors[0])
        return self.announced(metadata, tensors), tensors


class Unmoved(Lying):
    """Offers zeros for the optimizer's memory: the next step would throw the parameters far away."""

    def change(self, metadata: Any, tensors: Any) -> Any:
        tensors[2] = torch.zeros_like(tensors[2])
        return self.announced(metadata, tensors), tensors


class Rounded(Lying):
    """An honest donor after rounds that lose digits."""

    def change(self, metadata: Any, tensors: Any) -> Any:
        tensors = [tensor * (1 + 5e-4 * torch.randn_like(tensor)) for tensor in tensors]
        return self.announced(metadata, tensors), tensors


class Busy(CheckedStateAverager):
    """Gives its state to somebody else right now."""

    async def rpc_download_state(self, _request: Request, _context: P2PContext) -> Response:
        if self._giving_until < 0.0:
            yield averaging_pb2.DownloadData()


class Silent(Fresh):
    """Tells nobody what it has."""

    async def _sketch(self) -> bytes:
        return b""


class Large(Busy):
    """Has a larger model."""

    async def _sketch(self) -> bytes:
        await asyncio.sleep(0.05)
        return await super()._sketch()


class Flooding(CheckedStateAverager):
    """Asks a peer for sketches of as many epochs, all at once."""

    def flood(self, peer: CheckedStateAverager, requests: int) -> None:
        self._outer_pipe.send(("_flood", [peer.peer_id.to_bytes(), requests], {}))

    async def _flood(self, peer: bytes, requests: int) -> None:
        stub = self.get_stub(self._p2p, PeerID(peer), namespace=self.prefix)
        asked = (stub.rpc_sketch_state(request_of(epoch)) for epoch in range(requests))
        await asyncio.gather(*asked, return_exceptions=True)


@pytest.fixture
def taker(swarm: Swarm) -> CheckedStateAverager:
    made = swarm.peer()
    made.foreign = 0

    def count() -> None:
        made.foreign += 1

    made.on_foreign_state = count
    return made


def ahead(swarm: Swarm, kind: type[CheckedStateAverager] = Fresh) -> CheckedStateAverager:
    """A donor that lies, and is an epoch ahead."""
    return swarm.donor(kind, EPOCH + 1)


def trust(taker: CheckedStateAverager, *backbone: CheckedStateAverager) -> None:
    taker.backbone = [each.peer_id for each in backbone]


def test_fresh_parameters_of_a_later_epoch_are_not_used_while_the_backbone_answers(
    swarm: Swarm, taker: CheckedStateAverager
) -> None:
    """The backbone is busy; its word counts all the same."""
    trust(taker, swarm.donor(Busy))
    ahead(swarm)
    good = swarm.donor(Rounded)
    swarm.until_announced(taker, 3)
    assert take(taker)
    assert taker.local_epoch == EPOCH
    assert good.states_given == 1
    assert taker.foreign == 0


def test_an_honest_donor_ahead_of_a_backbone_that_lags_is_asked_again_as_soon_as_the_backbone_has_followed(
    swarm: Swarm, taker: CheckedStateAverager
) -> None:
    backbone = swarm.donor(Busy)
    trust(taker, backbone)
    good = swarm.donor(epoch=EPOCH + 1)
    swarm.until_announced(taker, 2)
    assert not take(taker)
    train(backbone, 1)
    assert take(taker)
    assert digest(taker) == digest(good)
    assert taker.foreign == 0


@pytest.mark.parametrize("kind", [Fresh, Unmoved])
def test_another_state_of_the_same_epoch_is_not_used_either_and_its_donor_not_asked_again(
    swarm: Swarm, taker: CheckedStateAverager, kind: type[CheckedStateAverager]
) -> None:
    trust(taker, swarm.donor(Busy))
    bad = swarm.donor(kind)
    swarm.until_announced(taker, 2)
    before = digest(taker)
    assert not take(taker)
    assert not take(taker)
    assert digest(taker) == before
    assert bad.states_given == 1
    assert taker.foreign == 1


def test_who_asks_the_backbone_all_the_time_does_not_keep_it_from_saying_what_it_has(
    swarm: Swarm, taker: CheckedStateAverager
) -> None:
    backbone, flooding = swarm.donor(Large), swarm.peer(Flooding)
    trust(taker, backbone)
    ahead(swarm)
    good = swarm.donor()
    swarm.until_announced(taker, 3)
    flooding.flood(backbone, 100)
    assert take(taker)
    assert taker.local_epoch == EPOCH
    assert digest(taker) == digest(good)


def test_the_backbone_is_asked_for_its_state_first_however_far_others_say_they_are(
    swarm: Swarm, taker: CheckedStateAverager
) -> None:
    bad, backbone = ahead(swarm), swarm.donor()
    trust(taker, backbone)
    swarm.until_announced(taker, 2)
    assert take(taker)
    assert digest(taker) == digest(backbone)
    assert bad.states_given == 0
    assert taker.foreign == 0


def test_without_a_backbone_most_of_those_who_answer_decide(swarm: Swarm, taker: CheckedStateAverager) -> None:
    gone = swarm.join()
    taker.backbone = [gone.peer_id]
    gone.shutdown()
    ahead(swarm)
    good = [swarm.donor(Rounded), swarm.donor(Rounded)]
    swarm.until_announced(taker, 3)
    assert take(taker)
    assert taker.local_epoch == EPOCH
    assert sum(donor.states_given for donor in good) == 1


def test_one_word_against_another_is_not_enough(swarm: Swarm, taker: CheckedStateAverager) -> None:
    ahead(swarm)
    swarm.donor()
    swarm.until_announced(taker, 2)
    before = digest(taker)
    assert not take(taker)
    assert digest(taker) == before


def test_who_tells_nothing_of_its_own_state_does_not_count(swarm: Swarm, taker: CheckedStateAverager) -> None:
    ahead(swarm, Silent)
    good = swarm.donor()
    swarm.until_announced(taker, 2)
    assert take(taker)
    assert digest(taker) == digest(good)
