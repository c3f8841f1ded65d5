"""Who may write where in the DHT. Two real peers, and an attacker with plain hivemind."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hivemind import DHT
from hivemind.dht.schema import RSASignatureValidator
from hivemind.utils import get_dht_time

from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.dht.records import announced_peer, own_subkey, read_records
from core.swarm.dht.signing_key import SigningKey
from tests.swarm.installed import installed

KEY = "run_state.all_averagers"


@pytest.fixture
def peers(short_folder: Path) -> Iterator[tuple[DHT, DHT, DHT]]:
    """Two honest ones and the attacker."""
    with installed(short_folder):
        first = join_swarm([], short_folder / "one.key")
        second = join_swarm(own_addresses(first), short_folder / "two.key")
        signature = RSASignatureValidator(SigningKey())
        attacker = DHT(initial_peers=own_addresses(first), record_validators=[signature], start=True, use_relay=False)
        yield first, second, attacker
        for dht in (first, second, attacker):
            dht.shutdown()


def test_nobody_replaces_what_another_peer_announces(peers: tuple[DHT, DHT, DHT]) -> None:
    donor, reader, attacker = peers
    subkey = own_subkey(donor.peer_id)
    assert donor.store(KEY, 7, get_dht_time() + 30.0, subkey=subkey)
    for subkey_of_attacker in (subkey, donor.peer_id.to_bytes()):
        attacker.store(KEY, None, get_dht_time() + 60.0, subkey=subkey_of_attacker)
    offers = {announced_peer(subkey): record.value for subkey, record in read_records(reader, KEY).items()}
    assert offers[donor.peer_id] == 7


def test_a_peer_is_announced_at_a_subkey_that_names_it_and_its_key(peers: tuple[DHT, DHT, DHT]) -> None:
    donor, reader, _attacker = peers
    assert announced_peer(own_subkey(donor.peer_id)) == donor.peer_id
    assert own_subkey(donor.peer_id) != own_subkey(reader.peer_id)


@pytest.mark.parametrize("subkey", [b"", b"[owner:", b"[owner:key]", b"peer", 7, None])
def test_what_stands_at_another_subkey_announces_nobody(subkey: object) -> None:
    assert announced_peer(subkey) is None
