"""A real engine beside a pretended NVIDIA driver: what other programs and failures do to a session."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.api.intent import Contribute
from core.api.preferences.commands import SetPreference
from core.api.snapshot import Snapshot
from core.system.orphans import TAG
from tests.fakes.nvml.stand_in import Driver, build
from tests.fakes.running_engine import RunningEngine, events
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the pretended driver is a Linux library")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture
def driver(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Driver:
    """A driver that the engine finds, and an installed PyTorch that could use its GPUs."""
    driver = Driver(library, tmp_path / "nvml-script")
    torch = tmp_path / "site" / "torch"
    torch.mkdir(parents=True)
    (torch / "__init__.py").touch()
    (torch / "version.py").write_text("cuda: Optional[str] = '12.8'\n")
    for name, value in driver.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    return driver


@pytest.fixture
def game() -> Iterator[int]:
    """A process that is none of ours; only the driver says that it draws."""
    environment = {name: value for name, value in os.environ.items() if name != TAG}
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env=environment)
    yield process.pid
    process.communicate(b"\n")


@pytest.fixture
def engine_with_eyes(engine: RunningEngine) -> RunningEngine:
    engine.blind = False
    return engine


def reasons(engine: RunningEngine) -> list[str]:
    return [reason.kind for reason in engine.snapshot().reasons]


def begin(engine: RunningEngine) -> None:
    """Whatever this computer's own network and keyboard are doing."""
    for name in ("idle_processor", "idle_gpu"):
        engine.ask(SetPreference(name, 0), object)
    engine.tell(Contribute())


def contribute(engine: RunningEngine) -> Snapshot:
    begin(engine)
    return engine.until("contributing")


def contribute_with_power_limit(engine: RunningEngine, driver: Driver) -> RunningEngine:
    """Until the driver has the limit, too."""
    driver.add_gpu()
    engine.start()
    engine.ask(SetPreference("gpu_power", 150), object)
    engine.ask(SetPreference("gpu_power_limit", 1), object)
    contribute(engine)
    wait_for(lambda: driver.limits_set() == ["0 150000"])
    return engine


def test_a_session_computes_on_the_gpu_with_its_limits(engine_with_eyes: RunningEngine, driver: Driver) -> None:
    driver.add_gpu()
    engine = engine_with_eyes.start()
    engine.ask(SetPreference("gpu0.temperature", 65), object)
    settings = contribute(engine).settings
    assert (settings.gpu, settings.limits.gpu_temperature) == ("GPU-0", 65)


def test_a_machine_without_a_gpu_uses_the_processor(engine_with_eyes: RunningEngine, driver: Driver) -> None:
    assert contribute(engine_with_eyes.start()).settings.gpu == ""


def test_a_gpu_may_be_left_out(engine_with_eyes: RunningEngine, driver: Driver) -> None:
    driver.add_gpu(memory_total=16 << 30)
    driver.add_gpu()
    engine = engine_with_eyes.start()
    assert contribute(engine).settings.gpu == "GPU-0"
    engine.ask(SetPreference("gpu0.use", 0), object)
    wait_for(lambda: engine.snapshot().state == "contributing" and engine.snapshot().settings.gpu == "GPU-1")
    engine.ask(SetPreference("gpu_use", 0), object)
    wait_for(lambda: engine.snapshot().state == "contributing" and engine.snapshot().settings.gpu == "")


def test_a_game_gets_the_gpu_at_once_and_its_memory_after_a_while(
    engine_with_eyes: RunningEngine, driver: Driver, game: int
) -> None:
    number = driver.add_gpu()
    engine_with_eyes.patience |= {
        "core.engine.decision.rules.gpu_rules.GIVES_BACK_AFTER": 3.0,
        "core.conditions.gpu._QUIET_FOR": 1.0,
    }
    engine = engine_with_eyes.start()
    contribute(engine)
    driver.run(number, (game, 1 << 30, 80, "graphics"))
    held = wait_for(lambda: next((s for s in [engine.snapshot()] if s.state == "holding"), None), 5.0)
    assert held is not None
    assert "gpu_taken" in [reason.kind for reason in held.reasons]
    taken = next(reason for reason in held.reasons if reason.kind == "gpu_taken")
    assert "python" in str(taken.params["programs"])
    freed = wait_for(lambda: next((s for s in [engine.snapshot()] if s.state == "idle"), None), 20.0)
    assert freed is not None
    assert freed.session is None
    driver.run(number)
    engine.until("contributing", 20.0)


@pytest.mark.parametrize("code", [9, 15, 999])
def test_a_driver_that_fails_midway_is_a_reason_and_no_crash(
    engine_with_eyes: RunningEngine, driver: Driver, code: int
) -> None:
    number = driver.add_gpu()
    engine = engine_with_eyes.start()
    contribute(engine)
    driver.say(**{"init.error": code}) if code == 9 else driver.set(number, error=code)
    driver.set(number, error=code)
    idle = engine.until("idle", 15.0)
    assert [reason.kind for reason in idle.reasons] == ["gpu_missing"]
    driver.say(**{"init.error": None})
    driver.set(number, error=None)
    engine.until("contributing", 15.0)


def test_a_driver_that_is_not_loaded_is_a_reason_until_the_processor_is_chosen(
    engine_with_eyes: RunningEngine, driver: Driver
) -> None:
    driver.say(**{"init.error": 9})
    engine = engine_with_eyes.start()
    begin(engine)
    wait_for(lambda: reasons(engine) == ["gpu_missing"])
    assert engine.snapshot().session is None
    engine.ask(SetPreference("gpu_use", 0), object)
    engine.until("contributing")


def test_the_driver_keeps_the_power_limit_during_a_session_only(
    engine_with_eyes: RunningEngine, driver: Driver
) -> None:
    engine = contribute_with_power_limit(engine_with_eyes, driver)
    assert engine.quit() == 0
    assert driver.limits_set() == ["0 150000", "0 250000"]


def test_a_power_limit_that_a_killed_engine_left_is_put_back_by_the_next(
    engine_with_eyes: RunningEngine, driver: Driver
) -> None:
    engine = contribute_with_power_limit(engine_with_eyes, driver)
    assert engine.process is not None
    engine.process.kill()
    engine.process.wait()
    engine.start()
    wait_for(lambda: driver.limits_set()[1:2] == ["0 250000"])


def test_without_the_right_to_set_a_power_limit_the_volunteer_is_told_once(
    engine_with_eyes: RunningEngine, driver: Driver
) -> None:
    number = driver.add_gpu()
    driver.say(**{f"{number}.set_power_limit.error": 4})
    engine = engine_with_eyes.start()
    client = engine.client()
    engine.ask(SetPreference("gpu_power", 150), object)
    engine.ask(SetPreference("gpu_power_limit", 1), object)
    next(client.messages(0.1))
    contribute(engine)
    message = events(client, "warning").message
    assert (message.kind, message.params["watts"]) == ("power_limit_refused", 150.0)
    with pytest.raises(AssertionError):
        events(client, "warning", 2.0)
