"""The hardware of this computer in a few lines for the welcome page. Pure, except `this_computer`."""

import os
from collections.abc import Sequence
from typing import NamedTuple

import psutil

from app.text.formats import amounts, numbers
from app.text.i18n import tr
from app.text.messages import sentence
from core.api.sensors import SensorInfo


class Computer(NamedTuple):
    """`memory` in bytes, 0 if unknown."""

    threads: int
    memory: int


def this_computer() -> Computer:
    return Computer(os.cpu_count() or 1, psutil.virtual_memory().total)


def lines(computer: Computer, sensors: Sequence[SensorInfo]) -> list[tuple[str, str]]:
    """Names and values: processor and memory, then the engine's sensors."""
    found = [(tr("Processor"), amounts.threads(computer.threads))]
    if computer.memory:
        found.append((tr("Memory"), numbers.size(computer.memory)))
    names = {
        "gpu": tr("Graphics card"),
        "network": tr("Network"),
        "power": tr("Power supply"),
        "presence": tr("Presence"),
    }
    values = {sensor.name: sentence(sensor.value) for sensor in sensors}
    return found + [(name, values[key]) for key, name in names.items() if key in values]
