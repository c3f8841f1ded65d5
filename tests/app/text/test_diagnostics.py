"""What may be in a problem report."""

import pytest

from app.text.diagnostics import without_names

HOME = "/home/ada"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/ada/.local/share/idlehive.", "~/.local/share/idlehive."),
        ("process of ada on engine-room", "process of [name] on [name]"),
        ("adapter", "adapter"),
        ("at 192.168.1.20:4001 and fe80::1:2", "at [address] and [address]"),
        ("/ip4/10.0.0.1/tcp/4001/p2p/QmX refused", "[address] refused"),
        ("https://example.org/p.json?token=x fails", "[address] fails"),
        ("peer 12D3KooWAbCdEfGhIjKlMnOpQrStUv left", "peer [key] left"),
        ("key 0123456789abcdef0123", "key [key]"),
        ("mail to ada@example.org", "mail to [address]"),
        ("torch 2.9.1, driver 550.54.14", "torch 2.9.1, driver 550.54.14"),
        ("at 12:30:05", "at 12:30:05"),
    ],
)
def test_names_keys_and_addresses_are_left_out(text: str, shown: str) -> None:
    assert without_names(text, HOME, ("ada", "engine-room")) == shown
