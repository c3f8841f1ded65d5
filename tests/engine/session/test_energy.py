"""What a session takes, from the counters of card and processor to the record: measured, estimated or unknown."""

from pathlib import Path

import pytest

from core.api.intent import Contribute
from core.api.record.record import GetOverview, Overview, Sums
from core.client.installation import core_environment
from tests.conditions.test_energy import counter, powercap
from tests.fakes.metered_trainer import POWERCAP
from tests.fakes.nvml.stand_in import Driver, build
from tests.fakes.running_engine import FAKES, RunningEngine
from tests.waiting import wait_for

__all__ = ["powercap"]

pytestmark = pytest.mark.slow


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Driver:
    """A pretended driver for processes that are started from now on."""
    (tmp_path / "nvml").mkdir()
    told = Driver(build(tmp_path / "nvml"), tmp_path / "gpus")
    for name, value in told.environment().items():
        monkeypatch.setenv(name, value)
    return told


@pytest.fixture
def metered(engine: RunningEngine, driver: Driver, powercap: Path, monkeypatch: pytest.MonkeyPatch) -> RunningEngine:
    """An engine whose sessions read these counters."""
    monkeypatch.setenv(POWERCAP, str(powercap))
    monkeypatch.setenv("PYTHONPATH", core_environment()["PYTHONPATH"])
    engine.trainer = FAKES / "metered_trainer.py"
    return engine


def sums(engine: RunningEngine) -> Sums:
    return engine.ask(GetOverview(), Overview).sums


def begin(engine: RunningEngine) -> None:
    """From here on the counters are watched."""
    engine.start().tell(Contribute())
    engine.until("contributing", 60.0)
    # Two looks: the first only begins to count.
    wait_for(lambda: sums(engine).samples > 2)


def test_what_counters_tell_is_recorded_as_measured_and_watts_as_an_estimate_beside_it(
    metered: RunningEngine, driver: Driver, powercap: Path
) -> None:
    driver.add_gpu(energy=5_000, power=30_000)
    begin(metered)
    assert sums(metered).joules == 0.0
    driver.set(0, energy=125_000)
    # Its range is 10 J, and it stood at 4 J.
    counter(powercap, 1_000_000)
    wait_for(lambda: sums(metered).joules == 120.0 + 7.0)
    assert (sums(metered).processor_joules, sums(metered).estimated_joules) == (7.0, None)

    # A driver that is loaded again counts from zero; nothing is subtracted.
    driver.set(0, energy=1_000)
    samples = sums(metered).samples
    wait_for(lambda: sums(metered).samples > samples + 2)
    driver.set(0, energy=4_000)
    wait_for(lambda: sums(metered).joules == 120.0 + 7.0 + 3.0)

    driver.set(0, energy=None)
    seconds = sums(metered).seconds
    wait_for(lambda: (sums(metered).estimated_joules or 0.0) > 60.0)
    told = sums(metered)
    assert told.estimated_joules == pytest.approx(30.0 * (told.seconds - seconds), abs=30.0)
    assert (told.joules, told.processor_joules) == (130.0, 7.0)
    metered.quit()
    kept = sums(metered.start())
    assert (kept.joules, kept.processor_joules) == (130.0, 7.0)
    assert (kept.estimated_joules or 0.0) >= (told.estimated_joules or 0.0)


def test_where_nothing_tells_nothing_is_claimed(metered: RunningEngine, driver: Driver, powercap: Path) -> None:
    for told_by in powercap.glob("*/energy_uj"):
        told_by.unlink()
    driver.add_gpu(energy=None, power=None)
    begin(metered)
    told = sums(metered)
    assert (told.joules, told.processor_joules, told.estimated_joules, told.energy) == (None, None, None, None)
