"""Donors that mean no good, or can do no better: their state is not used, and another is asked."""

import asyncio
import re
import time
from typing import Any, AsyncIterator, TypeAlias  # noqa: UP035 - hivemind knows only this one as a stream

import pytest
import torch
from hivemind.p2p import P2PContext
from hivemind.proto import averaging_pb2

from core.swarm.averaging.state_averager import CheckedStateAverager
from tests.swarm.state_swarm import EPOCH, SIZE, Swarm, digest, take

# hivemind reads the annotations of a call.
Request: TypeAlias = averaging_pb2.DownloadData
Response: TypeAlias = AsyncIterator[averaging_pb2.DownloadData]


class Lying(CheckedStateAverager):
    """Announces one thing in the swarm and sends another."""

    def change(
        self, metadata: dict[str, Any], tensors: list[torch.Tensor]
    ) -> tuple[dict[str, Any], list[torch.Tensor]]:
        raise NotImplementedError

    def get_current_state(self) -> Any:
        metadata, tensors, infos = super().get_current_state()
        metadata, tensors = self.change(metadata, tensors)
        return metadata, tensors, infos[: len(tensors)]


class OtherShapes(Lying):
    def change(self, metadata: Any, tensors: Any) -> Any:
        return self.announced(metadata, cut := [tensor.flatten()[: SIZE // 2] for tensor in tensors]), cut


class NotFinite(Lying):
    def change(self, metadata: Any, tensors: Any) -> Any:
        tensors[0][3] = float("nan")
        return self.announced(metadata, tensors), tensors


class Stale(Lying):
    def change(self, metadata: Any, tensors: Any) -> Any:
        return {**metadata, "epoch": EPOCH - 1}, tensors


class FarAhead(Lying):
    def change(self, metadata: Any, tensors: Any) -> Any:
        return {**metadata, "epoch": 10**6}, tensors


class OtherTensors(Lying):
    def change(self, metadata: Any, tensors: Any) -> Any:
        tensors[0][3] += 1.0
        return metadata, tensors


class AbsurdRate(Lying):
    def change(self, metadata: Any, tensors: Any) -> Any:
        numbers = metadata["optimizer_metadata"]
        rate = self.optimizer.param_groups[0]["lr"]
        changed = [{**one, "value": 1e9} if one.get("value") == rate else one for one in numbers]
        assert changed != numbers
        return {**metadata, "optimizer_metadata": changed}, tensors


class NoMetadata(Lying):
    def change(self, metadata: Any, tensors: Any) -> Any:
        return ["not", "a", "mapping"], tensors


class Stalling(CheckedStateAverager):
    async def rpc_download_state(self, request: Request, context: P2PContext) -> Response:
        count = 0
        async for message in super().rpc_download_state(request, context):
            if count == 2:
                await asyncio.sleep(60.0)
            count += 1
            yield message


class Trickling(CheckedStateAverager):
    """Never silent, and never done."""

    async def rpc_download_state(self, request: Request, context: P2PContext) -> Response:
        async for message in super().rpc_download_state(request, context):
            await asyncio.sleep(0.7)
            yield message


class BreakingOff(CheckedStateAverager):
    async def rpc_download_state(self, request: Request, context: P2PContext) -> Response:
        count = 0
        async for message in super().rpc_download_state(request, context):
            if (count := count + 1) > 4:
                return
            yield message


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (OtherShapes, "state_of_other_model"),
        (NotFinite, "state_not_finite"),
        (Stale, "state_too_old epoch=6 oldest=7"),
        (FarAhead, "state_too_new"),
        (OtherTensors, "state_not_as_announced"),
        (AbsurdRate, "learning_rate_wrong given=1000000000.0"),
        (NoMetadata, "metadata_malformed"),
        (Stalling, "download_failed detail=TimeoutError|download_too_slow"),
        (Trickling, "download_too_slow"),
        # Which of them depends on whether its stream ends before the taker's patience.
        (BreakingOff, "state_incomplete|download_failed detail=TimeoutError"),
    ],
)
def test_a_bad_donor_is_passed_over_for_the_next_one_and_the_log_says_why(
    swarm: Swarm, caplog: pytest.LogCaptureFixture, kind: type[CheckedStateAverager], reason: str
) -> None:
    # Two, so that most of those whom the taker asks about a state are honest.
    good, _ = swarm.donor(), swarm.donor()
    bad = swarm.donor(kind)
    # Asked first.
    bad.state_sharing_priority = EPOCH + 1
    taker = swarm.peer()
    swarm.until_announced(taker, 3)
    deadline = time.monotonic() + 20.0
    while taker.donors()[0][1] != EPOCH + 1:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert take(taker, seconds=3.0)
    assert digest(taker) == digest(good)
    assert taker.local_epoch == EPOCH
    assert [record for record in caplog.records if re.search(reason, record.getMessage())], caplog.text


def test_a_bad_donor_alone_changes_nothing(swarm: Swarm) -> None:
    swarm.donor(NotFinite)
    taker = swarm.peer()
    before = digest(taker)
    swarm.until_announced(taker, 1)
    assert not take(taker)
    assert digest(taker) == before
    assert taker.local_epoch == 0
