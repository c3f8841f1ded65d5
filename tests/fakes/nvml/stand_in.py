"""A pretended NVIDIA driver: `nvml.c` as libnvidia-ml.so.1, and the script that tells it what to answer."""

import os
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("nvml.c")
GPU = {
    "name": "Pretended GPU",
    "uuid": "GPU-0",
    "memory_total": 8 << 30,
    "memory_used": 1 << 30,
    "utilization": 0,
    "temperature": 40,
    "power": 30_000,
    "power_limit": 250_000,
    "lowest_power_limit": 100_000,
    "highest_power_limit": 300_000,
    "energy": 5_000,
}
"""An idle GPU that tells everything, in NVML's own units: bytes, percent, °C, milliwatts, millijoules."""


def build(folder: Path) -> Path:
    """Compile the library into `folder`; its path."""
    library = folder / "libnvidia-ml.so.1"
    options = ("-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1")
    subprocess.run(["gcc", *options, "-o", str(library), str(SOURCE)], check=True)
    return library


class Driver:
    """What the library says, from the next call on."""

    def __init__(self, library: Path, script: Path) -> None:
        self.library, self.script = library, script
        self._values: dict[str, object] = {}
        self.say(gpus=0)

    def environment(self) -> dict[str, str]:
        """For processes that shall find this driver."""
        return {"LD_LIBRARY_PATH": str(self.library.parent), "NVML_SCRIPT": str(self.script)}

    def add_gpu(self, **changes: object) -> int:
        """One more GPU, `GPU` with `changes`; its number."""
        number = int(str(self._values["gpus"]))
        self.say(gpus=number + 1)
        self.set(number, **{**GPU, "uuid": f"GPU-{number}", **changes})
        return number

    def set(self, number: int, **changes: object) -> None:
        """Change what one GPU says; None takes a value away, so that it is not supported."""
        self.say(**{f"{number}.{name}": value for name, value in changes.items()})

    def run(self, number: int, *programs: tuple[int, int, int, str]) -> None:
        """The programs on a GPU: process id, bytes, percent, `compute` or `graphics`."""
        self._values = {k: v for k, v in self._values.items() if not k.startswith(f"{number}.process.")}
        self.say(**{f"{number}.process.{k}": ",".join(map(str, program)) for k, program in enumerate(programs)})

    def say(self, **values: object) -> None:
        self._values.update(values)
        lines = [f"{key}={value}\n" for key, value in self._values.items() if value is not None]
        fresh = self.script.with_suffix(".new")
        fresh.write_text("".join(lines))
        # In one step: a call in between must not see half of it.
        os.replace(fresh, self.script)  # noqa: PTH105

    def limits_set(self) -> list[str]:
        """What was set as power limit so far: `GPU MILLIWATTS` each."""
        told = self.script.with_name(self.script.name + ".set")
        return told.read_text().splitlines() if told.exists() else []
