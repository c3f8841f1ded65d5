"""Chooses the build of torch for this machine."""

import ctypes
import platform
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

_DRIVER_MARK = Path("/proc/driver/nvidia/version")


@dataclass(frozen=True)
class TorchBuild:
    """A choice of torch: the requirement to install, and uv's name for where to get it (None: the usual index)."""

    requirement: str
    backend: str | None

    @property
    def name(self) -> str:
        return {"auto": "CUDA build of torch", "cpu": "CPU build of torch"}.get(self.backend or "", "the general torch")


def choose(version: str, system: str, nvidia_driver: bool, local_wheel: str | None) -> TorchBuild:
    """Prefer a local wheel; otherwise choose by the driver or its absence.

    `system` is as in `platform.system()`, `local_wheel` as in `local_wheel_version`.
    """
    if local_wheel:
        return TorchBuild(f"torch=={local_wheel}", None)
    if system == "Darwin":
        return TorchBuild(f"torch=={version}", None)
    return TorchBuild(f"torch=={version}", "auto" if nvidia_driver else "cpu")


def fallback(build: TorchBuild) -> TorchBuild | None:
    """What to try next: an old driver may fit no CUDA build, and a firewall may block torch's own index."""
    if build.backend is None:
        return None
    return replace(build, backend="cpu" if build.backend == "auto" else None)


def must_replace(installed: str | None, build: TorchBuild) -> bool:
    """Whether the environment holds a CPU build although the machine has since got a driver."""
    return installed is not None and installed.endswith("+cpu") and build.backend == "auto"


def has_nvidia_driver() -> bool:
    """Whether an NVIDIA driver is loaded, or its management library can be."""
    if _DRIVER_MARK.exists():
        return True
    try:
        ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return False
    return True


def local_wheel_version(version: str, file_names: list[str], python_tag: str, machine: str) -> str | None:
    """The version, with its local part, of a torch wheel among `file_names` that fits a Python and a machine.

    `python_tag` is such as "cp311", `machine` as in `platform.machine()`.
    """
    for name in file_names:
        parts = name.removesuffix(".whl").split("-")
        if parts[0] != "torch" or not name.endswith(".whl"):
            continue
        found = unquote(parts[1])
        if found.split("+")[0] == version and parts[-3] == python_tag and parts[-1].endswith(machine):
            return found
    return None


def find_local_wheel(version: str, folders: list[Path], python_tag: str) -> str | None:
    """`local_wheel_version` for the wheels in `folders` and this machine."""
    names = [entry.name for folder in folders if folder.is_dir() for entry in folder.iterdir()]
    return local_wheel_version(version, names, python_tag, platform.machine())
