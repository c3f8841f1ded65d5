"""The systems that packages are made for."""

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""The system's own Python runs Idlehive: these are those of Debian 12 and 13 and of Ubuntu 24.04 and 26.04."""
GLIBC = "2.35"
"""Ubuntu 22.04 has the oldest; Qt's wheels ask for 2.34."""
PLATFORM = f"x86_64-manylinux_{GLIBC.replace('.', '_')}"
"""For which uv chooses wheels."""
ARCHITECTURE = "amd64"
