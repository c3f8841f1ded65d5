"""Passes pip's settings about package sources on to uv.

They travel in the environment: an index's address may contain a password, and other users can see arguments.
"""

import ast
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

_SECTIONS = ("global", "install", ":env:")  # a later one overrides an earlier one, as in pip
_REMOTE = ("http", "https")


def parse(listing: str) -> dict[str, str]:
    """The effective settings, parsed from `pip config list`."""
    settings: dict[str, str] = {}
    for section in _SECTIONS:
        for line in listing.splitlines():
            key, _, value = line.partition("=")
            if key.startswith(f"{section}."):
                settings[key.removeprefix(f"{section}.")] = str(ast.literal_eval(value))
    return settings


def for_uv(settings: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that make uv use pip's sources; variables already set for uv stay."""
    extra = _usable(settings.get("extra-index-url", ""))
    wanted = {
        "UV_DEFAULT_INDEX": " ".join(_usable(settings.get("index-url", ""))),
        "UV_INDEX": " ".join(extra),
        "UV_INDEX_STRATEGY": "unsafe-best-match" if extra else "",  # as pip does
        "UV_FIND_LINKS": ",".join(_usable(settings.get("find-links", ""))),
        "UV_HTTP_TIMEOUT": settings.get("timeout", settings.get("default-timeout", "")),
        "SSL_CERT_FILE": settings.get("cert", ""),
        "ALL_PROXY": settings.get("proxy", ""),
    }
    return {name: value for name, value in wanted.items() if value and name not in environment}


def link_folders(settings: Mapping[str, str]) -> list[Path]:
    """The local folders of wheels in pip's settings."""
    places = _usable(settings.get("find-links", ""))
    return [_local_path(place) for place in places if urlsplit(place).scheme not in _REMOTE]


def _usable(places: str) -> list[str]:
    """Sources that are remote or exist. pip skips the others, uv would fail."""
    return [place for place in places.split() if urlsplit(place).scheme in _REMOTE or _local_path(place).exists()]


def _local_path(place: str) -> Path:
    parts = urlsplit(place)
    return Path(unquote(parts.path)) if parts.scheme == "file" else Path(place)
