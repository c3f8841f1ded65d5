"""Energy that a session uses: the processor's own counter, and the source of every joule.

RAPL is Intel's and AMD's (Linux: Documentation/power/powercap/powercap.rst). On many systems only
root may read it, because it leaks secrets of other programs (CVE-2020-8694); then it counts as missing.
"""

from dataclasses import dataclass, replace
from pathlib import Path

_POWERCAP = Path("/sys/class/powercap")


@dataclass(frozen=True)
class Joules:
    """By source. None: this source has no value."""

    gpu: float | None = None
    """The graphics card's counter (NVML)."""
    processor: float | None = None
    """The processor's counter (RAPL), all packages together."""
    estimated: float | None = None
    """Computed from a wattage that the volunteer gave."""

    @property
    def measured(self) -> float | None:
        known = [joules for joules in (self.gpu, self.processor) if joules is not None]
        return sum(known) if known else None

    def plus(self, gpu: float | None = None, estimated: float | None = None) -> "Joules":
        """The sum with these joules added."""
        return replace(
            self,
            gpu=self.gpu if gpu is None else (self.gpu or 0.0) + gpu,
            estimated=self.estimated if estimated is None else (self.estimated or 0.0) + estimated,
        )


class Rapl:
    """Adds up the packages' counters. They count microjoules and wrap to 0 after minutes or hours."""

    def __init__(self, folder: Path = _POWERCAP) -> None:
        # A package is `intel-rapl:0`; `intel-rapl:0:1` is a part of it, `intel-rapl-mmio:0` the same package again.
        zones = [zone for zone in sorted(folder.glob("intel-rapl:*")) if zone.name.count(":") == 1]
        # `psys` is the whole platform where there is one, the packages included.
        self._zones = [zone for zone in zones if (_text(zone / "name") or "").startswith("package")]
        self._last: dict[Path, int] = {}
        self._joules: float | None = None

    def begin(self) -> None:
        """Start counting."""
        self._last = {zone: value for zone in self._zones if (value := _number(zone / "energy_uj")) is not None}

    @property
    def joules(self) -> float | None:
        """Energy since `begin`, summed over all counted periods; None where it cannot be read."""
        for zone, before in self._last.items():
            now = _number(zone / "energy_uj")
            if now is None:
                continue
            grown = now - before if now >= before else now - before + (_number(zone / "max_energy_range_uj") or 0)
            self._joules = (self._joules or 0.0) + max(0, grown) / 1e6
            self._last[zone] = now
        return self._joules


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text is not None and text.isdecimal() else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
