"""Python imports this first in every process of a test: it makes this machine look like the one a test describes."""

import ctypes
import importlib.util
import os
import platform

_find_spec = importlib.util.find_spec
_missing = os.environ.get("STUB_MISSING_LIBRARIES", "libnvidia-ml.so.1").split()


def _load(name: str) -> None:
    if name in _missing:
        raise OSError(name)


def _find(name: str, package: str | None = None) -> object:
    return None if name == "ensurepip" and os.environ.get("STUB_NO_ENSUREPIP") else _find_spec(name, package)


ctypes.CDLL = _load  # type: ignore[assignment,misc]
importlib.util.find_spec = _find  # type: ignore[assignment]
os.geteuid = lambda: int(os.environ.get("STUB_USER", "1000"))
platform.system = lambda: os.environ.get("STUB_SYSTEM", "Linux")
platform.freedesktop_os_release = lambda: {"ID": os.environ.get("STUB_DISTRIBUTION", "debian")}
