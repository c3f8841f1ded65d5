"""How peers that look for a group find each other in the DHT."""

import asyncio
import inspect
import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hivemind import DHT
from hivemind.averaging.key_manager import GroupKeyManager
from hivemind.averaging.matchmaking import Matchmaking, PotentialLeaders
from hivemind.dht.schema import RSASignatureValidator
from hivemind.p2p import PeerID
from hivemind.utils import get_dht_time

from core.swarm.dht.group_lookup import FIRST_INTERVAL, PacedKeyManager
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.dht.signing_key import SigningKey
from tests.swarm.installed import installed

KEY = "run.0b"


@pytest.fixture
def peers(short_folder: Path) -> Iterator[list[DHT]]:
    with installed(short_folder):
        first = join_swarm([], short_folder / "one.key")
        made = [first, join_swarm(own_addresses(first), short_folder / "two.key")]
        yield made
        for dht in made:
            dht.shutdown()


def manager(dht: DHT) -> PacedKeyManager:
    return PacedKeyManager(dht, "run", "", 8)


def test_a_peer_that_has_announced_itself_is_found_until_it_has_a_group(peers: list[DHT]) -> None:
    async def announce_and_look() -> list[list[str]]:
        here, there = map(manager, peers)
        found = [await there.get_averagers(KEY, only_active=True)]
        begins = get_dht_time() + 30.0
        await here.declare_averager(KEY, here.peer_id, begins)
        found.append(await there.get_averagers(KEY, only_active=True))
        await here.declare_averager(KEY, here.peer_id, begins, looking_for_group=False)
        found.append(await there.get_averagers(KEY, only_active=True))
        found.append(await there.get_averagers(KEY, only_active=False))
        return [[str(peer) for peer, _begins in averagers] for averagers in found]

    one = [str(peers[0].peer_id)]
    assert asyncio.run(announce_and_look()) == [[], one, [], one]


def test_a_search_asks_the_dht_at_most_every_so_often(peers: list[DHT]) -> None:
    async def look() -> list[float]:
        here, at = manager(peers[0]), [time.monotonic()]
        for _ in range(3):
            await here.get_averagers(KEY, only_active=True)
            at.append(time.monotonic())
        # The search is over, and the next one begins.
        await here.declare_averager(KEY, here.peer_id, get_dht_time(), looking_for_group=False)
        await here.get_averagers(KEY, only_active=True)
        at.append(time.monotonic())
        return [later - earlier for earlier, later in itertools.pairwise(at)]

    first, second, third, of_next_search = asyncio.run(look())
    assert max(first, of_next_search) < FIRST_INTERVAL
    assert FIRST_INTERVAL * 0.5 < second < third


def test_what_a_stranger_put_among_the_announcements_is_ignored(peers: list[DHT]) -> None:
    async def look() -> list[tuple[object, float]]:
        there = manager(peers[1])
        for subkey in (7, b"", peers[0].peer_id.to_bytes(), b"[owner:me]"):
            await peers[0].store(KEY, True, get_dht_time() + 30.0, subkey=subkey, return_future=True)
        return await there.get_averagers(KEY, only_active=True)

    assert asyncio.run(look()) == []


def test_of_several_announcements_of_a_peer_the_earliest_counts(peers: list[DHT]) -> None:
    signature = RSASignatureValidator(SigningKey())
    liar = DHT(initial_peers=own_addresses(peers[0]), record_validators=[signature], start=True, use_relay=False)
    peers.append(liar)

    async def look() -> list[tuple[PeerID, float]]:
        here, there = map(manager, peers[:2])
        begins = get_dht_time() + 20.0
        await here.declare_averager(KEY, here.peer_id, begins)
        # Which it signs: nobody knows whose key it is.
        subkey = signature.local_public_key + here.peer_id.to_bytes()
        assert await liar.store(KEY, True, begins + 10.0, subkey=subkey, return_future=True)
        return [(peer, expiration - begins) for peer, expiration in await there.get_averagers(KEY, only_active=True)]

    assert asyncio.run(look()) == [(peers[0].peer_id, 0.0)]


def test_hivemind_looks_for_leaders_by_what_we_replace() -> None:
    """It asks again as soon as there is an answer; and announces a peer where ours looks for it."""
    assert "await key_manager.get_averagers(key_manager.current_key, only_active=True)" in inspect.getsource(
        PotentialLeaders._update_queue_periodically
    )
    assert "self.group_key_manager = GroupKeyManager(dht, prefix, initial_group_bits" in inspect.getsource(Matchmaking)
    announce = list(inspect.signature(GroupKeyManager.declare_averager).parameters)
    assert announce == ["self", "group_key", "peer_id", "expiration_time", "looking_for_group"]
