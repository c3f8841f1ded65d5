"""The hardware of this computer in a few lines for the welcome page. Pure, except `this_computer`."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from app.text import amounts, numbers
from app.text.i18n import tr
from app.text.messages import sentence
from core.api.sensors import SensorInfo


class HardwareLine(NamedTuple):
    """One line of the summary."""

    name: str
    value: str


class Computer(NamedTuple):
    """`memory` in bytes, 0 if unknown."""

    threads: int
    memory: int


def this_computer() -> Computer:
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        memory = 0
    return Computer(os.cpu_count() or 1, max(0, memory))


def lines(computer: Computer, sensors: Sequence[SensorInfo]) -> list[HardwareLine]:
    """Processor and memory, then the engine's sensors."""
    threads = computer.threads
    found = [
        HardwareLine(tr("Processor"), amounts.threads(threads)),
    ]
    if computer.memory:
        found.append(HardwareLine(tr("Memory"), numbers.size(computer.memory)))
    told = {sensor.name: sensor for sensor in sensors}
    return found + [HardwareLine(name, sentence(told[key].value)) for key, name in _sensors().items() if key in told]


def _sensors() -> dict[str, str]:
    return {
        "gpu": tr("Graphics card"),
        "network": tr("Network"),
        "power": tr("Power supply"),
        "presence": tr("Presence"),
    }
