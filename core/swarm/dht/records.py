"""Reads what peers have stored under one key of the DHT, each at a subkey of its own."""

from hivemind import DHT
from hivemind.dht.schema import RSASignatureValidator
from hivemind.p2p import PeerID
from hivemind.utils import ValueWithExpiration

_OWNER, _END = RSASignatureValidator.PUBLIC_KEY_FORMAT.split(b"_key_")


def read_records(dht: DHT, key: str) -> dict[bytes, ValueWithExpiration]:
    """The latest record of each peer by its subkey. Values are a stranger's: of any type."""
    found = dht.get(key, latest=True)
    records = found.value if isinstance(found, ValueWithExpiration) and isinstance(found.value, dict) else {}
    return {
        subkey: record
        for subkey, record in records.items()
        if isinstance(subkey, bytes) and isinstance(record, ValueWithExpiration)
    }


def own_subkey(peer_id: PeerID) -> bytes:
    """Where this process announces a peer: its key signs what is stored there, so nobody else can replace it. hivemind
    announces peers at their id, where everybody can write."""
    return bytes(RSASignatureValidator().local_public_key) + bytes(peer_id.to_bytes())


def announced_peer(subkey: object) -> PeerID | None:
    """The peer that a record announces; None if no key protects its subkey. Anybody can announce any peer, but cannot
    replace the peer's own record."""
    if not isinstance(subkey, bytes) or not subkey.startswith(_OWNER):
        return None
    peer_id = subkey.partition(_END)[2]
    return PeerID(peer_id) if peer_id else None
