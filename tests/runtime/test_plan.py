"""Which build a machine gets, and what an installed runtime is good for."""

from pathlib import Path

import pytest

from core.runtime import plan
from core.runtime.store import locks

CPU = plan.Lock("cpu", ("3.11",), 1000, "aaa")
CUDA = plan.Lock("cuda", ("3.11", "3.13"), 5000, "bbb", cuda=(13, 0))
LOCKS = (CPU, CUDA)


@pytest.mark.parametrize(
    ("python", "driver", "chosen"),
    [
        ("3.11", None, CPU),
        ("3.11", (13, 0), CUDA),
        ("3.11", (13, 2), CUDA),
        ("3.11", (12, 4), CPU),  # the driver is too old for this CUDA
        ("3.13", None, CUDA),  # there is no CPU build for this Python
        ("3.10", None, None),
    ],
)
def test_the_build_follows_the_driver_and_the_python(
    python: str, driver: tuple[int, int] | None, chosen: plan.Lock | None
) -> None:
    assert plan.choose(LOCKS, python, driver) is chosen


def test_another_lock_or_python_needs_another_runtime() -> None:
    installed = f"{plan.name(CPU, '3.11')}-1f2e"
    assert plan.will_do(installed, LOCKS, "3.11")
    assert not plan.will_do(installed, LOCKS, "3.13")
    assert not plan.will_do(installed, (plan.Lock("cpu", ("3.11",), 1000, "ccc"),), "3.11")


def test_the_time_left_follows_what_this_attempt_has_fetched() -> None:
    assert plan.time_left(done=60, total=100, before=40, seconds=10) == pytest.approx(20)
    assert plan.time_left(done=40, total=100, before=40, seconds=10) is None
    assert plan.time_left(done=60, total=100, before=40, seconds=1) is None


def test_what_an_index_sends_before_the_packages_tells_no_time() -> None:
    assert plan.time_left(done=15_000, total=1_300_000_000, before=0, seconds=3) is None


def test_the_locks_of_this_version_can_be_read() -> None:
    cpu, cuda = locks()
    assert "3.11" in cpu.pythons
    assert cuda.cuda >= (13, 0)
    assert 0.5e9 < cpu.unpacked < cuda.unpacked < 10e9


def test_a_text_without_its_header_is_no_lock() -> None:
    with pytest.raises(ValueError, match="header"):
        plan.read("cpu", Path(__file__).read_text())
