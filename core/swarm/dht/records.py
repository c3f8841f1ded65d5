"""Reads what peers have stored under one key of the DHT, each at a subkey of its own."""

from hivemind import DHT
from hivemind.utils import ValueWithExpiration


def read_records(dht: DHT, key: str) -> dict[bytes, ValueWithExpiration]:
    """The latest record of each peer by its subkey. Values are a stranger's: of any type."""
    found = dht.get(key, latest=True)
    records = found.value if isinstance(found, ValueWithExpiration) and isinstance(found.value, dict) else {}
    return {
        subkey: record
        for subkey, record in records.items()
        if isinstance(subkey, bytes) and isinstance(record, ValueWithExpiration)
    }
