import ipaddress
import struct

import pytest

from core.swarm.connectivity.port_control import LEASE, Grant, gateways, gateways_by_ipv4, granted, request

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
        (answer(), Grant(LEASE, ADDRESS, PORT)),
        (answer(0), Grant(0, ADDRESS, PORT)),
        # The router refuses; it speaks NAT-PMP alone; it sends the request back; the answer is cut off.
        (answer(result=2), None),
        (bytes([0, 0x81, 0, 1]) + bytes(56), None),
        (answer(operation=1), None),
        (answer()[:-1], None),
        (b"", None),
    ],
)
def test_only_a_whole_answer_that_grants_something_counts(data: bytes, expected: Grant | None) -> None:
    assert granted(data, NONCE, PORT) == expected


def test_by_ipv4_the_router_chooses_the_address_and_may_choose_the_port() -> None:
    own, any_address = bytes(10) + b"\xff\xff\xc0\xa8\x00\x02", bytes(10) + b"\xff\xff" + bytes(4)
    ports = struct.pack("!HH", PORT, PORT)
    asked = bytes([2, 1, 0, 0, 0, 0, 0, LEASE]) + own + NONCE + bytes([6, 0, 0, 0]) + ports + any_address
    assert request(NONCE, "192.168.0.2", PORT, LEASE) == asked
    outside = struct.pack("!HH", PORT, 40000) + bytes(10) + b"\xff\xff\x0b\x4d\x00\x02"
    said = answer()[: -len(ports) - 16] + outside
    assert granted(said, NONCE, PORT) == Grant(LEASE, "11.77.0.2", 40000)


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


def test_default_routers_are_found_among_the_routes_of_ipv4() -> None:
    routes = [
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT",
        f"eth0\t00000000\t{_as_the_kernel_writes('192.168.0.1')}\t0003\t0\t0\t0\t00000000\t0\t0\t0",
        f"eth0\t{_as_the_kernel_writes('192.168.0.0')}\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0",
        "tun0\t00000000\t00000000\t0001\t0\t0\t50\t00000000\t0\t0\t0",
    ]
    assert list(gateways_by_ipv4("\n".join(routes))) == [("192.168.0.1", "eth0")]
    assert list(gateways_by_ipv4("")) == []


def _as_the_kernel_writes(address: str) -> str:
    return f"{struct.unpack('=I', ipaddress.IPv4Address(address).packed)[0]:08X}"
