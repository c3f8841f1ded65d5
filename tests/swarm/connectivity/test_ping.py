"""When a peer is taken for lost."""

import asyncio
import time
from typing import Any

import pytest

from core.swarm.connectivity import ping


@pytest.fixture(autouse=True)
def _silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """No ping is answered, and patience is short."""

    async def never(*_peer: Any) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(ping.Pinger, "ping", never)
    monkeypatch.setattr(ping, "_ANSWER_TIMEOUT", 0.2)
    monkeypatch.setattr(ping, "_TICK", 0.05)


def seconds_until_lost(messages: float) -> float:
    """Of a peer that sends something else for so many seconds."""

    async def watch() -> None:
        clock = asyncio.get_running_loop().time
        last = clock() + messages
        await ping.until_silent(None, None, lambda: min(clock(), last), interval=0.1)

    begin = time.monotonic()
    asyncio.run(watch())
    return time.monotonic() - begin


def test_a_peer_from_which_nothing_comes_is_lost() -> None:
    assert seconds_until_lost(0.0) == pytest.approx(0.3, abs=0.2)


def test_a_peer_whose_answers_wait_behind_its_parts_is_not() -> None:
    assert seconds_until_lost(1.0) == pytest.approx(1.3, abs=0.2)


def test_a_peer_that_answers_is_not_while_this_process_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    async def soon(*_peer: Any) -> None:
        await asyncio.sleep(0.05)

    async def watch() -> None:
        watching = asyncio.create_task(ping.until_silent(None, None, interval=0.1))
        for pause in (0.02, 0.12, 0.15, 0.3):
            await asyncio.sleep(pause)
            time.sleep(0.6)  # noqa: ASYNC251 - what keeps a busy process from running
        await asyncio.sleep(0.1)
        assert not watching.done()
        watching.cancel()

    monkeypatch.setattr(ping.Pinger, "ping", soon)
    asyncio.run(watch())
