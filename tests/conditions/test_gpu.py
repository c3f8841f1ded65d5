"""The GPU sensor: what it concludes from what a pretended driver says, with a clock of the test's own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.text.formats.numbers import percent
from app.text.messages import sentence
from core.api.message import Message
from core.conditions.gpu import GpuSensor, GpuState, is_other_program
from core.system.orphans import TAG
from tests.fakes.nvml.stand_in import Driver

OTHER = 4242


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sensor(driver: Driver, clock: Clock) -> GpuSensor:
    return GpuSensor(clock, clock, is_other=lambda pid: pid >= OTHER)


def read(sensor: GpuSensor) -> GpuState:
    (state,) = sensor.read().present
    return state


def test_a_gpu_on_which_only_we_compute_is_not_taken(driver: Driver, sensor: GpuSensor) -> None:
    driver.run(driver.add_gpu(), (7, 3 << 30, 95, "compute"))
    assert read(sensor).taken_by == ()


def test_the_desktop_does_not_take_the_gpu(driver: Driver, sensor: GpuSensor) -> None:
    driver.run(driver.add_gpu(), (OTHER, 1 << 28, 9, "graphics"), (OTHER + 1, 1 << 28, 8, "graphics"))
    assert read(sensor).taken_by == ()


@pytest.mark.parametrize("kind", ["compute", "graphics"])
def test_a_busy_program_takes_the_gpu_at_once(driver: Driver, sensor: GpuSensor, clock: Clock, kind: str) -> None:
    driver.run(driver.add_gpu(), (OTHER, 1 << 30, 60, kind))
    state = read(sensor)
    assert state.taken_by == ("another program",)
    assert state.taken_since == clock.now


def test_where_the_driver_tells_no_utilization_a_computing_program_takes_the_gpu(
    driver: Driver, sensor: GpuSensor
) -> None:
    number = driver.add_gpu()
    driver.say(**{f"{number}.process_utilization.error": 3})
    driver.run(number, (OTHER, 1 << 30, 0, "graphics"))
    assert read(sensor).taken_by == ()
    driver.run(number, (OTHER, 1 << 30, 0, "compute"))
    assert read(sensor).taken_by


def test_a_taken_gpu_is_free_only_after_a_while_without_use(driver: Driver, sensor: GpuSensor, clock: Clock) -> None:
    number = driver.add_gpu()
    driver.run(number, (OTHER, 1 << 30, 60, "graphics"))
    began = read(sensor).taken_since
    driver.run(number)
    clock.now += 19
    assert read(sensor).taken_since == began
    clock.now += 2
    assert read(sensor).taken_since is None


def test_memory_of_other_programs_is_counted_apart(driver: Driver, sensor: GpuSensor) -> None:
    driver.run(driver.add_gpu(), (7, 5000, 90, "compute"), (OTHER, 300, 0, "compute"), (OTHER + 1, 20, 1, "graphics"))
    assert read(sensor).others_memory == 320


def test_heat_counts_once_it_stays(driver: Driver, sensor: GpuSensor, clock: Clock) -> None:
    number = driver.add_gpu(temperature=90)
    assert read(sensor).coolest is None
    clock.now += 20
    assert read(sensor).coolest == 90
    driver.set(number, temperature=70)
    assert read(sensor).coolest == 70
    driver.set(number, temperature=91)
    clock.now += 1
    assert read(sensor).coolest == 70
    clock.now += 19
    assert read(sensor).coolest == 70
    clock.now += 1
    assert read(sensor).coolest == 91


def test_a_gpu_that_vanishes_is_remembered_until_it_is_back(driver: Driver, sensor: GpuSensor) -> None:
    number = driver.add_gpu()
    sensor.read()
    driver.set(number, error=15)
    states = sensor.read()
    assert states.present == ()
    assert [gpu.uuid for gpu in states.gone] == ["GPU-0"]
    assert states.failure is not None
    driver.set(number, error=None)
    assert sensor.read().gone == ()


def test_the_doctor_is_told_what_the_gpu_does(driver: Driver, sensor: GpuSensor) -> None:
    sensor.read()
    assert sensor.info().value == Message("gpu_missing")
    driver.run(driver.add_gpu(), (OTHER, 1 << 30, 60, "graphics"))
    sensor.read()
    assert f"Pretended GPU (40 °C, 30 W, {percent(0)} busy, used by another program)." in sentence(sensor.info().value)
    driver.say(**{"init.error": 9})
    sensor.read()
    assert "The NVIDIA driver says" in sentence(sensor.info().value)


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[int]:
    """A process of a session, as the subreaper marks it."""
    environment = {**os.environ, TAG: str(tmp_path)}
    process = subprocess.Popen([sys.executable, "-c", "print(flush=True); input()"], env=environment,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    yield process.pid
    process.communicate(b"\n")


def test_processes_of_a_session_are_ours_and_others_are_not(sleeper: int) -> None:
    assert not is_other_program(sleeper)
    assert is_other_program(os.getppid())


def test_a_process_of_another_container_says_nothing() -> None:
    assert not is_other_program(2**22 - 3)
