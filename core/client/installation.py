"""How Idlehive came onto this machine: as a package, or as a checkout with its own environment."""

import functools
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[2]
"""The folder of `app`, `core` and `resources`."""


class Publisher(msgspec.Struct, frozen=True):
    """Who publishes new versions of a package."""

    address: str
    """Of the signed release file; empty: the volunteer has to name one."""
    keys: tuple[str, ...]
    """Public keys (Ed25519, hexadecimal), of which one must have signed it."""


class Package(msgspec.Struct, frozen=True):
    """What `package.json` says beside the sources of a package."""

    kind: str
    """deb or portable."""
    publisher: Publisher | None = None

    @property
    def launcher(self) -> Path:
        return ROOT / "idlehive"

    @property
    def uv(self) -> Path:
        return ROOT / "bin" / "uv"


@functools.cache
def package() -> Package | None:
    """None: a checkout, whose environment has all libraries."""
    try:
        return msgspec.json.decode((ROOT / "package.json").read_bytes(), type=Package)
    except FileNotFoundError:
        return None


@functools.cache
def version() -> str:
    """Of Idlehive; empty if it was not installed in any way."""
    from importlib import metadata  # slow to import, and most commands never ask

    try:
        return metadata.version("idlehive")
    except metadata.PackageNotFoundError:
        return ""
