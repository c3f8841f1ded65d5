"""NVML, with the real pynvml on a pretended driver."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.conditions.nvml import Gpus, Nvml, Program, can_learn, get_power_limit, installed_torch, set_power_limit
from tests.fakes.nvml.stand_in import Driver


def test_a_machine_without_the_driver_has_no_gpu_and_no_trouble() -> None:
    code = "import sys; from core.conditions.nvml import *; print(Nvml().read()); print('pynvml' in sys.modules)"
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert asked.stdout.splitlines() == [str(Gpus()), "False"]


def test_everything_that_a_gpu_tells_is_read_in_plain_units(driver: Driver) -> None:
    driver.add_gpu(temperature=61, power=123_456, utilization=87, energy=2_000)
    gpus = Nvml().read()
    (gpu,) = gpus.present
    assert (gpu.number, gpu.uuid, gpu.name) == (0, "GPU-0", "Pretended GPU")
    assert (gpu.temperature, gpu.utilization) == (61, 87)
    assert (gpu.power, gpu.power_limit, gpu.energy) == (123.456, 250.0, 2.0)
    assert (gpu.memory_total, gpu.memory_used) == (8 << 30, 1 << 30)
    assert gpus.failure is None


def test_what_a_gpu_does_not_tell_is_none(driver: Driver) -> None:
    unsupported = dict.fromkeys(("temperature", "power", "power_limit", "utilization", "energy"))
    driver.add_gpu(**unsupported)
    (gpu,) = Nvml().read().present
    assert {getattr(gpu, name) for name in unsupported} == {None}


def test_programs_come_with_memory_and_utilization(driver: Driver) -> None:
    driver.run(driver.add_gpu(), (11, 1000, 0, "graphics"), (12, 2000, 90, "compute"))
    (gpu,) = Nvml().read().present
    assert set(gpu.programs) == {Program(11, False, 1000, 0), Program(12, True, 2000, 90)}


def test_programs_are_known_even_if_their_utilization_is_not(driver: Driver) -> None:
    number = driver.add_gpu()
    driver.run(number, (12, 2000, 90, "compute"))
    driver.say(**{f"{number}.process_utilization.error": 3})
    (gpu,) = Nvml().read().present
    assert gpu.programs == (Program(12, True, 2000, None),)


def test_two_gpus_are_two(driver: Driver) -> None:
    driver.add_gpu()
    driver.add_gpu(temperature=70)
    assert [gpu.temperature for gpu in Nvml().read().present] == [40, 70]


@pytest.mark.parametrize("code", [9, 15, 999, 12345])
def test_a_driver_that_fails_is_told_in_a_sentence_and_comes_back(driver: Driver, code: int) -> None:
    driver.add_gpu()
    sensor = Nvml()
    assert sensor.read().present
    driver.say(**{"init.error": code})
    failed = sensor.read()
    assert failed.present == ()
    assert failed.failure is not None
    assert failed.failure.kind == "driver_fails"
    driver.say(**{"init.error": None})
    assert sensor.read().present


@pytest.mark.parametrize("code", [15, 999])
def test_a_gpu_that_falls_off_the_bus_leaves_the_others(driver: Driver, code: int) -> None:
    driver.add_gpu()
    driver.add_gpu()
    sensor = Nvml()
    assert len(sensor.read().present) == 2
    driver.set(0, error=code)
    gpus = sensor.read()
    assert [gpu.uuid for gpu in gpus.present] == ["GPU-1"]
    assert gpus.failure is not None
    driver.set(0, error=None)
    assert len(sensor.read().present) == 2


def test_a_power_limit_is_set_within_what_the_driver_allows(driver: Driver) -> None:
    number = driver.add_gpu()
    assert get_power_limit(number) == 250.0
    set_power_limit(number, 150.0)
    set_power_limit(number, 20.0)
    assert driver.limits_set() == ["0 150000", "0 100000"]


def test_without_the_right_to_set_a_power_limit_the_driver_says_so(driver: Driver) -> None:
    number = driver.add_gpu()
    driver.say(**{f"{number}.set_power_limit.error": 4})
    with pytest.raises(OSError, match="Insufficient Permissions"):
        set_power_limit(number, 150.0)


@pytest.mark.parametrize(
    ("line", "can"), [("cuda: Optional[str] = None", False), ("cuda: Optional[str] = '12.8'", True)]
)
def test_whether_the_installed_pytorch_knows_gpus_is_read_without_loading_it(
    tmp_path: Path, line: str, can: bool
) -> None:
    package = tmp_path / "torch"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('it was loaded')")
    (package / "version.py").write_text(f"__version__ = '2'\n{line}\nhip: Optional[str] = None\n")
    code = "from core.conditions.nvml import can_learn, installed_torch; print(can_learn(installed_torch()))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert asked.stdout.strip() == str(can)


def test_it_is_looked_up_here_too() -> None:
    import torch

    assert can_learn(installed_torch()) == (torch.version.cuda is not None)
