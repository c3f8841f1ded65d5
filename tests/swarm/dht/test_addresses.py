"""Which peers are at one address."""

import pytest
from hivemind.utils.multiaddr import Multiaddr

from core.swarm.dht.addresses import UNKNOWN, origin_of


@pytest.mark.parametrize(
    ("addresses", "origin"),
    [
        (["/ip4/198.51.100.7/tcp/4001"], "198.51.100.7"),
        (["/ip6/2001:db8:1:2:3:4:5:6/tcp/4001"], "2001:db8:1:2::"),
        (["/ip6/2001:db8:1:2::9/tcp/1"], "2001:db8:1:2::"),
        (["/ip6/::ffff:198.51.100.7/tcp/4001"], "198.51.100.7"),
        (["/dns4/example.org/tcp/1", "/ip4/192.0.2.1/udp/5/quic"], "192.0.2.1"),
        ([], UNKNOWN),
    ],
)
def test_an_address_or_the_network_of_a_household_counts_as_one(addresses: list[str], origin: str) -> None:
    assert origin_of(map(Multiaddr, addresses)) == origin
