"""The systems that packages are made for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

PYTHON = "3.11"
"""Of the packages for Linux: that of Debian 12, and of the CPU build of torch."""
GLIBC = "2.35"
"""Ubuntu 22.04 has the oldest; Qt's wheels ask for 2.34, the Python that packages carry for 2.35."""
PLATFORM = f"x86_64-manylinux_{GLIBC.replace('.', '_')}"
"""For which uv chooses wheels."""
ARCHITECTURE = "amd64"


@dataclass(frozen=True)
class Target:
    """For which libraries are chosen. `platform` is uv's name, `variables` what uv needs to know beyond it."""

    platform: str
    python: str
    variables: Mapping[str, str] = field(default_factory=dict)
    interpreter: str = ""
    """The Python that the package carries, as uv names it; empty: Debian's."""


LINUX = Target(PLATFORM, PYTHON)
OLDEST_MACOS = "14.0"
"""torch's wheel asks for it."""
MACOS = Target(
    "aarch64-apple-darwin", "3.12", {"MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS}, "cpython-3.12-macos-aarch64-none"
)
WINDOWS = Target("x86_64-pc-windows-msvc", "3.12", {}, "cpython-3.12-windows-x86_64-none")
