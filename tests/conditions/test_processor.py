"""How much of the processor other programs use."""

from dataclasses import dataclass

import psutil
import pytest

from core.api.message import Message
from core.conditions.processor import ProcessorSensor, ProcessorTimes, processor_times


@dataclass
class Computer:
    """Two cores whose use a test sets; a reading every two seconds."""

    now: float = 0.0
    busy: float = 0.0

    def __post_init__(self) -> None:
        self.sensor = ProcessorSensor(lambda: self.now, lambda: ProcessorTimes(self.busy, 2 * self.now))

    def used(self, share: float, seconds: float, every: float = 2.0) -> int | None:
        for _ in range(round(seconds / every)):
            self.now += every
            self.busy += 2 * every * share
            self.sensor.read()
        return self.sensor.read().others


def test_only_use_that_lasts_counts() -> None:
    computer = Computer()
    assert computer.used(0.1, 20) == 10
    assert computer.used(1.0, 8) == 10
    assert computer.used(1.0, 4) == 100
    assert computer.used(0.82, 60) == 80


@pytest.mark.parametrize("every", [2.6, 5.01, 30.0])
def test_use_counts_however_seldom_it_is_read(every: float) -> None:
    """While nothing is wanted, or where the computer has so much to do that readings are late."""
    computer = Computer()
    assert computer.used(0.9, 60, every) == 90
    assert computer.used(0.0, 60, every) == 0


def test_a_short_break_does_not_end_it_and_a_long_one_does() -> None:
    computer = Computer()
    assert computer.used(0.9, 20) == 90
    assert computer.used(0.0, 20) == 90
    assert computer.used(0.0, 20) == 0


def test_nothing_is_known_before_use_can_have_lasted() -> None:
    computer = Computer()
    assert computer.sensor.read().others is None
    assert computer.used(0.0, 8) is None
    assert computer.sensor.info().value == Message("processor_measured_soon")
    assert computer.used(0.0, 2) == 0
    assert computer.sensor.info().value == Message("processor_use", {"share": 0.0})


def test_the_kernels_counters_go_on() -> None:
    before = processor_times()
    psutil.cpu_percent(0.1)
    after = processor_times()
    assert after.all > before.all
    assert after.busy >= before.busy
