"""The systems that packages are made for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""The system's own Python runs Idlehive: these are those of Debian 12 and 13 and of Ubuntu 24.04 and 26.04."""
GLIBC = "2.35"
"""Ubuntu 22.04 has the oldest; Qt's wheels ask for 2.34."""
PLATFORM = f"x86_64-manylinux_{GLIBC.replace('.', '_')}"
"""For which uv chooses wheels."""
ARCHITECTURE = "amd64"


@dataclass(frozen=True)
class Target:
    """For which libraries are chosen. `platform` is uv's name, `variables` what uv needs to know beyond it."""

    platform: str
    pythons: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    interpreter: str = ""
    """The Python that the package carries, as uv names it; empty: the system's."""


LINUX = Target(PLATFORM, PYTHONS)
OLDEST_MACOS = "14.0"
"""torch's wheel asks for it."""
MACOS = Target(
    "aarch64-apple-darwin", ("3.12",), {"MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS}, "cpython-3.12-macos-aarch64-none"
)
WINDOWS = Target("x86_64-pc-windows-msvc", ("3.12",), {}, "cpython-3.12-windows-x86_64-none")
