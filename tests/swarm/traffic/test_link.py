"""What is counted and held back when messages and the wire do not say the same."""

import asyncio
import time

import pytest

from core.api.session_settings import Limits
from core.swarm.traffic.link import Link
from core.swarm.traffic.meter import Kind
from core.swarm.traffic.tcp_info import Carried


@pytest.fixture
def link() -> Link:
    return Link()


def test_until_the_kernel_is_asked_the_messages_count(link: Link) -> None:
    asyncio.run(link.send_call(100))
    link.receive_call(200)
    link.meter.add("data", down=50)
    assert (link.meter.uploaded, link.meter.downloaded) == (100, 250)


def test_afterwards_the_wire_does_and_what_no_message_explains_is_the_peers_talk(link: Link) -> None:
    link.meter.add("averaging", up=1000)
    link.meter.add("data", down=50)
    link.set_carried(Carried(1300, 400), 0.2)
    assert (link.meter.uploaded, link.meter.downloaded) == (1300, 450)
    assert link.meter.by_kind() == {"averaging": (1000, 0), "state": (0, 0), "dht": (300, 400), "data": (0, 50)}


def test_what_waits_in_the_daemon_is_not_counted_twice(link: Link) -> None:
    """A state that came in faster than it is read."""
    link.set_carried(Carried(0, 5000), 0.2)
    asyncio.run(link.receive(5000, "state"))
    link.set_carried(Carried(0, 5000), 0.2)
    assert link.meter.downloaded == 5000


def test_what_the_wire_carried_besides_messages_makes_streams_wait(link: Link) -> None:
    link.apply(Limits(upload_limit=1000, download_limit=1000))
    asyncio.run(link.send(100, "averaging"))
    link.set_carried(Carried(600, 0), 0.2)
    assert link.up.debt == pytest.approx(0.6, abs=0.1)
    link.set_carried(Carried(600, 700), 0.2)
    assert link.down.debt == pytest.approx(0.7, abs=0.1)


def test_a_few_calls_go_at_once_and_many_wait_for_their_turn(link: Link) -> None:
    link.apply(Limits(upload_limit=1000))

    def seconds_for(calls: int) -> float:
        async def send() -> None:
            for _ in range(calls):
                await link.send_call(50)

        begin = time.monotonic()
        asyncio.run(send())
        return time.monotonic() - begin

    assert seconds_for(2) < 0.1
    # At 1000 bytes per second; not sooner than 0.2 seconds before their turn.
    assert 0.5 < seconds_for(18) < 1.0


def test_peers_are_offered_what_other_traffic_leaves(link: Link) -> None:
    link.apply(Limits(download_limit=1000))
    assert link.rate_for_streams == 980
    for second in range(1, 60):
        link.set_carried(Carried(0, 300 * second), 1.0)
    assert link.rate_for_streams == pytest.approx(680, rel=0.01)
    for second in range(1, 60):
        link.set_carried(Carried(0, 18_000 + 5000 * second), 1.0)
    assert link.rate_for_streams == pytest.approx(98, rel=0.01), "never nothing"


@pytest.mark.parametrize(
    ("limits", "rates"),
    [
        (Limits(), (0, 0)),
        (Limits(upload_limit=1000), (980, 19_600)),
        (Limits(download_limit=1000), (19_600, 980)),
        (Limits(upload_limit=1000, download_limit=1_000_000), (980, 19_600)),
    ],
)
def test_acknowledgements_find_room_under_the_other_ceiling(
    link: Link, limits: Limits, rates: tuple[float, float]
) -> None:
    link.apply(limits)
    assert (link.up.rate, link.down.rate) == rates


def test_a_state_that_is_given_away_leaves_a_round_most_of_the_ceiling_and_takes_all_of_it_afterwards(
    link: Link,
) -> None:
    link.apply(Limits(upload_limit=200_000))
    sent = {"averaging": 0, "state": 0}

    async def send(kind: Kind, until: float) -> None:
        while time.monotonic() < until:
            await link.send(5000, kind)
            sent[kind] += 5000

    async def both() -> dict[str, int]:
        begin = time.monotonic()
        giving = asyncio.create_task(send("state", begin + 4.0))
        await send("averaging", begin + 2.0)
        meanwhile = dict(sent)
        await giving
        return meanwhile

    meanwhile = asyncio.run(both())
    assert 0 < meanwhile["state"] < 0.2 * meanwhile["averaging"]
    assert sent["state"] > 0.5 * sent["averaging"]
