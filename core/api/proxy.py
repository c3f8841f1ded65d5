"""How HTTP leaves this computer: the volunteer's choice, as engine and trainer need it."""

from typing import Literal, get_args
from urllib.parse import quote, urlsplit

import msgspec

from core.api.errors import UsageError

ProxyChoice = Literal["system", "none", "own"]
CHOICES: tuple[str, ...] = get_args(ProxyChoice)
"""`system`: as the environment or the system's settings say."""
SCHEMES = ("http", "https", "socks5", "socks5h")
"""Of addresses that can be used. Both kinds of SOCKS5 leave it to the proxy to look up names."""
PASSWORD = "proxy_password"  # noqa: S105 - the name of the preference


class Proxy(msgspec.Struct, frozen=True):
    choice: ProxyChoice = "system"
    address: str = ""
    """Of `own`, with the user's name if the proxy asks for one; empty: not chosen yet."""
    password: str | None = None

    @property
    def url(self) -> str:
        """The address with the password, as HTTP libraries take it."""
        scheme, _, rest = with_remote_names(self.address).partition("://")
        user, at, place = rest.rpartition("@")
        if not at or self.password is None:
            return f"{scheme}://{rest}" if rest else ""
        return f"{scheme}://{user}:{quote(self.password, safe='')}@{place}"


def with_remote_names(url: str) -> str:
    """SOCKS5 as HTTP libraries call it when the proxy looks up names: else each would be asked of the local DNS."""
    scheme, separator, rest = url.partition("://")
    return f"socks5h://{rest}" if separator and scheme in ("socks", "socks5") else url


def checked_address(text: str) -> str:
    """The address of a proxy in its full form: `proxy.example:3128` is `http://proxy.example:3128`.

    Raises:
        UsageError: it is none, or holds a password, which is kept apart.
    """
    typed = text.strip()
    try:
        parts = urlsplit(typed if "://" in typed else f"http://{typed}")
        port = parts.port
    except ValueError:
        raise UsageError("proxy_address_unclear", address=typed) from None
    if parts.password is not None:
        raise UsageError("proxy_with_password", name=PASSWORD)
    if parts.scheme not in SCHEMES:
        raise UsageError("proxy_scheme", scheme=parts.scheme)
    extra = parts.path.strip("/") or parts.query or parts.fragment
    if not parts.hostname or port == 0 or extra or not typed.isprintable() or " " in typed:
        raise UsageError("proxy_address_unclear", address=typed)
    return f"{parts.scheme}://{parts.netloc}"
