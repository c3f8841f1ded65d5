"""What a computation takes at most, at one time."""

import sys

import pytest
import torch

from core.learning.peak_memory import _UNCOUNTED, PeakMemory

NUMBERS, SIZE = 1000, 4000


@pytest.fixture
def _counted_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a process cannot ask for its own peak."""
    monkeypatch.setattr("core.system.resident_peak.begin", lambda: None)


def counted(memory: PeakMemory) -> float:
    return memory.peak / _UNCOUNTED / SIZE


@pytest.mark.usefixtures("_counted_only")
def test_what_was_freed_before_counts_no_more() -> None:
    with PeakMemory() as memory:
        one = torch.zeros(NUMBERS)
        two = one + 1
        del one
        three = two + 1
    assert round(counted(memory), 3) == 2
    del two, three


@pytest.mark.usefixtures("_counted_only")
def test_values_from_outside_and_views_count_nothing() -> None:
    outside = torch.zeros(NUMBERS, requires_grad=True)
    with PeakMemory() as memory:
        outside.view(10, -1).t()
        with torch.no_grad():
            outside.add_(1)
    assert counted(memory) == 0


@pytest.mark.usefixtures("_counted_only")
def test_what_the_backward_pass_needs_counts_until_then() -> None:
    weight = torch.ones(NUMBERS, requires_grad=True)
    with PeakMemory() as memory:
        value = weight
        for _ in range(8):
            value = value.sin()
        value.sum().backward()
    assert 8 <= counted(memory) <= 11


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how much memory a process had")
def test_memory_that_is_not_of_tensors_counts_on_linux() -> None:
    with PeakMemory() as memory:
        other = bytearray(b"1") * (50 << 20)
        del other
    assert 45 << 20 < memory.peak < 100 << 20
