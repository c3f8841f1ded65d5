"""Which runtime a machine needs, and whether an installed one will do. Pure."""

import hashlib
import re
from dataclasses import dataclass

from core.api.installation.compute_runtime import Build

HEADROOM = 1.5
"""Bytecode and the cache's own files too, as a multiple of the unpacked libraries."""
TELLING = 0.01
"""Part of a download that tells its speed: before packages, an index sends little and slowly."""
_PYTHONS = re.compile(r"^# For Python (.*)\.$", re.MULTILINE)
_UNPACKED = re.compile(r"^# Unpacked: (\d+) bytes\.$", re.MULTILINE)
_CUDA = re.compile(r"^cuda-toolkit==(\d+)\.(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Lock:
    """A file of exact versions and hashes."""

    build: Build
    pythons: tuple[str, ...]
    """Those for which it has builds, such as "3.11"."""
    unpacked: int
    """Bytes."""
    digest: str
    cuda: tuple[int, int] = (0, 0)
    """The CUDA version that its torch needs."""


def read(build: Build, text: str) -> Lock:
    """A lock from its text. Raises ValueError: it was not written by `installer lock`."""
    pythons, unpacked, cuda = _PYTHONS.search(text), _UNPACKED.search(text), _CUDA.search(text)
    if pythons is None or unpacked is None:
        raise ValueError(f"{build}.lock has no header")
    needed = (int(cuda[1]), int(cuda[2])) if cuda else (0, 0)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return Lock(build, tuple(pythons[1].split(", ")), int(unpacked[1]), digest, needed)


def choose(locks: tuple[Lock, ...], python: str, driver_cuda: tuple[int, int] | None) -> Lock | None:
    """The lock for a Python and what the NVIDIA driver supports (None: no driver); None: there is none.

    A machine without a driver can use the CUDA build too. It is larger, so it is only the second choice.
    """
    fitting = [lock for lock in locks if python in lock.pythons]
    cards = [lock for lock in fitting if lock.build == "cuda" and driver_cuda is not None and lock.cuda <= driver_cuda]
    return next(iter([*cards, *sorted(fitting, key=lambda lock: lock.unpacked)]), None)


def name(lock: Lock, python: str) -> str:
    """The name of a runtime made from a lock: another lock or Python makes another one."""
    return f"{lock.build}-{python}-{lock.digest}"


def will_do(installed: str, locks: tuple[Lock, ...], python: str) -> bool:
    """Whether an installed runtime, by its folder's name, is one that this version of Idlehive runs with."""
    return any(installed.startswith(name(lock, python)) for lock in locks)


def time_left(done: int, total: int, before: int, seconds: float) -> float | None:
    """Seconds to the end of a download that began `seconds` ago with `before` bytes there already."""
    if seconds < 2.0 or done - before < TELLING * total:
        return None
    return max(0, total - done) * seconds / (done - before)
