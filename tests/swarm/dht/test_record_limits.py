"""What strangers can make this peer keep. The flood comes from a real peer on loopback."""

import math
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest
from hivemind import DHT
from hivemind.dht.node import DHTNode
from hivemind.dht.protocol import DHTProtocol
from hivemind.dht.routing import DHTID
from hivemind.dht.storage import DictionaryDHTValue
from hivemind.dht.validation import DHTRecord
from hivemind.p2p import PeerID
from hivemind.utils import MSGPackSerializer, get_dht_time

from core.swarm.dht import record_limits
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.dht.record_limits import (
    LARGEST_VALUE,
    LONGEST,
    BoundedStorage,
    Quota,
    ReadableRecords,
    is_acceptable,
)
from tests.swarm.installed import installed

NOW = 1_790_000_000.0


@pytest.fixture
def victim(short_folder: Path) -> Iterator[DHT]:
    with installed(short_folder):
        dht = join_swarm([], short_folder / "victim.key")
        yield dht
        dht.shutdown()


def flood(folder: Path, victim: DHT, *floods: tuple[int, int, float]) -> list[int]:
    """How many records of a hostile peer were taken, of so many, of so many bytes, for so many seconds."""
    folder.mkdir()
    subreaper = [sys.executable, "-m", "core.system.subreaper", str(folder / "subreaper"), "--"]
    arguments = [str(folder), own_addresses(victim)[0], *(",".join(map(str, wanted)) for wanted in floods)]
    command = [*subreaper, sys.executable, "-m", "tests.swarm.flooding_peer", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=250, check=True, text=True)
    return [int(line) for line in done.stdout.split()]


@pytest.mark.timeout(300)
def test_a_flood_of_large_values_neither_fills_memory_nor_keeps_others_out(victim: DHT, short_folder: Path) -> None:
    process = psutil.Process(victim.pid)
    before = process.memory_info().rss
    years = 10 * 365 * 86_400.0
    large, eternal, small = flood(
        short_folder / "flood", victim, (2000, 100_000, 300.0), (20, 100, years), (2000, LARGEST_VALUE, 300.0)
    )
    assert (large, eternal) == (0, 0)
    assert 0 < small * LARGEST_VALUE <= record_limits.MOST_BYTES_PER_PEER
    assert process.memory_info().rss < before + (64 << 20)
    assert victim.store("honest", "value", get_dht_time() + 30.0, subkey="peer")
    found = victim.get("honest")
    assert found is not None
    assert found.value["peer"].value == "value"


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> int:
    """Bytes for all peers of one address: two have none for a third one."""
    monkeypatch.setattr(record_limits, "MOST_BYTES_PER_PEER", 1 << 20)
    monkeypatch.setattr(record_limits, "MOST_BYTES_PER_ADDRESS", 2 << 20)
    return 2 << 20


@pytest.mark.timeout(300)
def test_the_peers_of_one_address_share_its_room(little_room: int, victim: DHT, short_folder: Path) -> None:
    taken = [flood(short_folder / f"flood{number}", victim, (200, LARGEST_VALUE, 300.0))[0] for number in range(3)]
    assert taken[0] > 40
    assert sum(taken) * LARGEST_VALUE <= little_room
    assert taken[2] == 0


UNREADABLE = {
    "not MessagePack": b"\xc1",
    "more than one value": b"\x01\x01",
    "text that is not UTF-8": b"\xa1\xff",
    "half a value": b"\xc4\x05ab",
    "no value": b"",
    "nested without end": b"\x91" * 10_000,
    "a dictionary of hivemind's that is none": b"\xd4\x50\x01",
}


def test_a_record_that_cannot_be_read_stops_nobody_who_reads_its_key(victim: DHT, short_folder: Path) -> None:
    """hivemind's `get` never returned."""
    attacker = DHT(initial_peers=own_addresses(victim), start=True, use_relay=False, startup_timeout=60.0)
    try:
        assert victim.store("key", "value", get_dht_time() + 60.0, subkey="peer")
        kept = partial(_stored_raw, victim=victim.peer_id, key="key", values=list(UNREADABLE.values()))
        assert attacker.run_coroutine(kept) == [False] * (2 * len(UNREADABLE))
        # The attacker has them itself, and is asked.
        attacker.run_coroutine(partial(_keep_raw, key="key", values=list(UNREADABLE.values())))
        found = victim.get("key", latest=True, return_future=True).result(timeout=20.0)
        assert found is not None
        assert {peer: entry.value for peer, entry in found.value.items()} == {"peer": "value"}
    finally:
        attacker.shutdown()


async def _stored_raw(_dht: DHT, node: DHTNode, *, victim: PeerID, key: str, values: list[bytes]) -> list[bool]:
    """Which of these values the victim takes, each below a subkey and instead of all subkeys."""
    taken: list[bool] = []
    for subkey in ("peer", None):
        for value in values:
            until = get_dht_time() + 300.0
            taken += await node.protocol.call_store(victim, [DHTID.generate(key)], [value], until, [subkey]) or [False]
    return taken


async def _keep_raw(_dht: DHT, node: DHTNode, *, key: str, values: list[bytes]) -> None:
    for number, value in enumerate(values):
        node.protocol.storage.store(DHTID.generate(key), value, get_dht_time() + 300.0, subkey=f"peer {number}")


def test_a_record_belongs_to_a_subkey() -> None:
    """One without would take the place of all that have one."""
    until = get_dht_time() + 60.0
    value = MSGPackSerializer.dumps("value")
    assert ReadableRecords().validate(DHTRecord(b"key", MSGPackSerializer.dumps("peer"), value, until))
    assert not ReadableRecords().validate(DHTRecord(b"key", DHTProtocol.IS_REGULAR_VALUE, value, until))


def test_a_record_is_small_and_short_lived() -> None:
    assert is_acceptable(b"", b"x" * LARGEST_VALUE, NOW + 300.0, NOW)
    assert not is_acceptable(b"", b"x" * (LARGEST_VALUE + 1), NOW + 300.0, NOW)
    assert not is_acceptable(b"x" * 5000, b"", NOW + 300.0, NOW)
    for never in (NOW + LONGEST + 1.0, math.inf, math.nan):
        assert not is_acceptable(b"", b"", never, NOW)


def test_who_was_there_first_stays_when_all_room_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_limits, "MOST_BYTES", 10_000)
    storage, key, expires = BoundedStorage(), DHTID.generate(), get_dht_time() + 60.0
    assert storage.store_subkey(key, b"first", b"x" * 4000, expires)
    assert storage.store_subkey(key, b"second", b"x" * 4000, expires)
    assert not storage.store_subkey(key, b"third", b"x" * 4000, expires)
    assert not storage.store(DHTID.generate(), b"x" * 4000, expires)
    assert storage.store_subkey(key, b"first", b"y" * 4000, expires + 1.0)
    held = storage.get(key)
    assert held is not None
    assert isinstance(held.value, DictionaryDHTValue)
    assert set(held.value.data) == {b"first", b"second"}


def test_a_peer_has_room_for_so_much_until_it_expires() -> None:
    quota, size = Quota(record_limits.MOST_BYTES_PER_PEER), record_limits.MOST_BYTES_PER_PEER // 4
    admitted = [quota.admits(b"peer", (bytes([number]), b""), size, NOW + 60.0, NOW) for number in range(6)]
    assert admitted == [True, True, True, False, False, False]
    assert quota.admits(b"peer", (b"\x00", b""), size, NOW + 60.0, NOW), "its own record can be renewed"
    assert quota.admits(b"other", (b"\x00", b""), size, NOW + 60.0, NOW)
    assert quota.admits(b"peer", (b"\x09", b""), size, NOW + 120.0, NOW + 61.0)


def test_hivemind_stores_what_comes_from_others_where_it_is_limited() -> None:
    assert list(DHTProtocol.rpc_store.__annotations__) == ["request", "context", "return"]
