"""Links and files that the desktop opens with Idlehive: `idlehive open idlehive:https://example.org/project.json`."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

OPEN = "open"
_SCHEME = "idlehive:"
_LONGEST = 2048


def project_in(arguments: Sequence[str]) -> str:
    """The address or file of the project that `open` names; empty if there is none, or it is no such thing.

    A link comes from any web page, so it may only name an address: the volunteer sees it before it is read.
    """
    if len(arguments) < 2 or arguments[0] != OPEN:
        return ""
    named = arguments[1]
    if named.startswith(_SCHEME):
        address = unquote(named.removeprefix(_SCHEME))
        address = f"https:{address}" if address.startswith("//") else address
        return address if _is_address(address) else ""
    if named.startswith("file:"):
        named = unquote(_parts(named).path)
    if not named:
        return ""
    return named if _is_address(named) else str(Path(named).absolute())


def _is_address(text: str) -> bool:
    parts = _parts(text)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and len(text) <= _LONGEST and text.isprintable()


def _parts(text: str) -> SplitResult:
    """Empty parts where it is no address."""
    try:
        return urlsplit(text)
    except ValueError:
        return urlsplit("")
