"""Which addresses a project's manifest may name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.system.reach import host_in, is_public, reach_of

PEER = "/p2p/Qm" + "a" * 44


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "224.0.0.1",
        "0.0.0.0",
        "::1",
        "fe80::1",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "localhost",
    ],
)
def test_what_is_not_the_internet_is_not_public(address: str) -> None:
    assert not is_public(address)
    assert not reach_of("https://example.org/manifest.json", ()).allows("example.org", address)


def test_the_internet_is_public() -> None:
    assert all(is_public(address) for address in ("93.184.216.34", "2606:4700::6810:84e5", "64:ff9b::5db8:d822"))


@pytest.mark.parametrize("host", ["127.0.0.1", "192.168.1.7", "nas.local", "nas", "[::1]"])
def test_a_manifest_from_a_private_address_may_name_that_host_and_no_other(host: str) -> None:
    reach = reach_of(f"http://{host}:8330/manifest.json", ())
    assert reach.allows(host.strip("[]"), "192.168.1.7")
    assert not reach.allows("router.local", "192.168.1.1")
    assert reach.allows("example.org", "93.184.216.34")


def test_a_public_name_that_leads_to_a_private_address_gives_no_access_to_it() -> None:
    reach = reach_of("https://evil.example/manifest.json", (f"/ip4/127.0.0.1/tcp/631{PEER}",))
    assert not reach.allows("evil.example", "127.0.0.1")
    assert not reach.allows("127.0.0.1", "127.0.0.1")


def test_a_manifest_file_may_name_the_hosts_of_the_organisers_peers() -> None:
    reach = reach_of(None, (f"/ip4/192.168.1.7/tcp/31337{PEER}",))
    assert reach.allows("192.168.1.7", "192.168.1.7")
    assert not reach.allows("192.168.1.8", "192.168.1.8")


@given(st.text())
def test_any_text_can_be_asked_for_its_host(text: str) -> None:
    assert not is_public(host_in(text)) or "." in text or ":" in text
