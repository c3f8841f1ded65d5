import ipaddress
import struct

import pytest

from core.swarm.connectivity.pinhole import LEASE, gateways, granted, request

ADDRESS, PORT, NONCE = "2001:db8:1::2", 31001, bytes(range(12))
OWN = ipaddress.IPv6Address(ADDRESS).packed
MAPPING = NONCE + bytes([6, 0, 0, 0]) + struct.pack("!HH", PORT, PORT) + OWN
NOTHING = "0" * 32


def answer(seconds: int = LEASE, *, version: int = 2, operation: int = 0x81, result: int = 0) -> bytes:
    return struct.pack("!BBBBII12x", version, operation, 0, result, seconds, 7) + MAPPING


def test_a_request_is_as_rfc_6887_has_it() -> None:
    assert request(NONCE, ADDRESS, PORT, LEASE) == bytes([2, 1, 0, 0, 0, 0, 0, LEASE]) + OWN + MAPPING


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (answer(), LEASE),
        (answer(0), 0),
        # The router refuses; it speaks NAT-PMP alone; it sends the request back; the answer is cut off.
        (answer(result=2), None),
        (bytes([0, 0x81, 0, 1]) + bytes(56), None),
        (answer(operation=1), None),
        (answer()[:-1], None),
        (b"", None),
    ],
)
def test_only_a_whole_answer_that_grants_something_counts(data: bytes, expected: int | None) -> None:
    assert granted(data, NONCE, PORT) == expected


def test_the_answer_to_another_request_does_not_count() -> None:
    assert granted(answer(), NONCE, PORT + 1) is None
    assert granted(answer(), NONCE[::-1], PORT) is None


def test_default_routers_are_found_among_the_routes() -> None:
    router, local = "fe80" + "0" * 27 + "1", "20010db8" + "0" * 24
    counters = "00000400 00000001 00000000 00450003"
    routes = [
        f"{local} 40 {NOTHING} 00 {NOTHING} {counters}     eth0",
        f"{NOTHING} 00 {NOTHING} 00 {router} {counters}    wlan0",
        f"{NOTHING} 00 {NOTHING} 00 {NOTHING} ffffffff 00000001 00000000 00200200       lo",
    ]
    assert list(gateways("\n".join(routes))) == [("fe80::1", "wlan0")]
    assert list(gateways("")) == []
