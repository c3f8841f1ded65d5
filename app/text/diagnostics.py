"""What a problem report may say: technical facts without names, keys and addresses. Pure."""

import ipaddress
import re
from collections.abc import Iterable

_ADDRESS = re.compile(r"/(?:ip4|ip6|dns\w*)/\S+|\b\w+://[^\s'\"]+|[\w.+-]+@[\w.-]+")
_KEY = re.compile(r"\b(?:Qm|12D3Koo)\w{20,}\b|\b[0-9a-f]{16,}\b", re.IGNORECASE)
_DIGITS = re.compile(r"(?<![\w.:])(?:\d+(?:\.\d+){3}|[0-9a-f]*:[0-9a-f:.]*[0-9a-f])(?::\d+)?(?!\w)", re.IGNORECASE)


def without_names(text: str, home: str, names: Iterable[str]) -> str:
    """`home` becomes ~, and `names`, of the user and the computer, are left out."""
    text = text.replace(home, "~") if len(home) > 1 else text
    text = _DIGITS.sub(_unless_address, _KEY.sub("[key]", _ADDRESS.sub("[address]", text)))
    for name in sorted(filter(None, names), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "[name]", text)
    return text


def _unless_address(found: re.Match[str]) -> str:
    """The text, unless it is an address, with or without a port; a time of day is none."""
    for candidate in (found[0], found[0].rpartition(":")[0]):
        try:
            ipaddress.ip_address(candidate)
        except ValueError:
            continue
        return "[address]"
    return found[0]
