"""How Idlehive came onto this machine, as a package or a checkout with an environment, and how its parts are run."""

import functools
import os
import sys
from pathlib import Path

import msgspec

from core.client.profile import Profile

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
    """deb, portable, dmg or exe."""
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


def core_command(module: str, *arguments: str) -> list[str]:
    """The command line that runs a module of core from any folder, with `core_environment`."""
    return [sys.executable, "-P", "-m", module, *arguments]


def compute_command(profile: Profile, module: str, *arguments: str) -> list[str]:
    """The command line that runs a module of core which computes: in a package, with the profile's compute runtime."""
    if package() is None:
        return core_command(module, *arguments)
    return core_command("core.runtime.launch", str(profile.compute), module, *arguments)


def core_environment() -> dict[str, str]:
    """The environment for `core_command`: `-P` hides a `core` folder of the present directory, this adds ours."""
    others = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{others}" if others else str(ROOT)}
