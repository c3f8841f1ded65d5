"""The processor's counter of energy, as files that Linux shows."""

from pathlib import Path

import pytest

from core.conditions.energy import Joules, Rapl


@pytest.fixture
def powercap(tmp_path: Path) -> Path:
    """A computer with one package, a part of it, and the whole platform."""
    for zone, name in (("intel-rapl:0", "package-0"), ("intel-rapl:0:0", "core"), ("intel-rapl:1", "psys")):
        (tmp_path / zone).mkdir()
        (tmp_path / zone / "name").write_text(f"{name}\n")
        (tmp_path / zone / "max_energy_range_uj").write_text("10000000\n")
        (tmp_path / zone / "energy_uj").write_text("4000000\n")
    return tmp_path


def counter(powercap: Path, microjoules: int) -> None:
    for zone in ("intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1"):
        (powercap / zone / "energy_uj").write_text(f"{microjoules}\n")


def test_a_package_counts_once_and_neither_its_parts_nor_the_platform(powercap: Path) -> None:
    rapl = Rapl(powercap)
    rapl.begin()
    counter(powercap, 6_500_000)
    assert rapl.joules == 2.5


def test_a_counter_that_begins_again_loses_nothing(powercap: Path) -> None:
    rapl = Rapl(powercap)
    rapl.begin()
    counter(powercap, 1_000_000)
    assert rapl.joules == 7.0


def test_what_was_taken_between_two_times_of_work_does_not_count(powercap: Path) -> None:
    rapl = Rapl(powercap)
    rapl.begin()
    counter(powercap, 5_000_000)
    assert rapl.joules == 1.0
    counter(powercap, 9_000_000)
    rapl.begin()
    counter(powercap, 9_500_000)
    assert rapl.joules == 1.5


def test_a_counter_that_may_not_be_read_tells_nothing(powercap: Path) -> None:
    (powercap / "intel-rapl:0" / "energy_uj").unlink()
    rapl = Rapl(powercap)
    rapl.begin()
    assert rapl.joules is None


def test_a_computer_without_counters_tells_nothing(tmp_path: Path) -> None:
    rapl = Rapl(tmp_path / "nowhere")
    rapl.begin()
    assert rapl.joules is None


def test_measured_is_what_counters_told_and_estimates_stand_beside_it() -> None:
    assert Joules().measured is None
    assert Joules(gpu=2.0, processor=3.0, estimated=9.0).measured == 5.0
    assert Joules(estimated=9.0).measured is None
    assert Joules().plus(estimated=1.0).plus(estimated=2.0) == Joules(estimated=3.0)
