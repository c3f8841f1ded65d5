"""The ceiling for the whole session's memory."""

import subprocess
import sys
import threading

import pytest

from core.api.errors import UsageError
from core.trainer.machine.memory_guard import MemoryGuard, session_memory
from tests.waiting import wait_for

GIB = 1 << 30


def test_more_than_the_ceiling_ends_the_session_with_both_numbers() -> None:
    with pytest.raises(UsageError, match=f"memory_over_limit held={3 * GIB} allowed={2 * GIB}"):
        MemoryGuard(lambda: 0.0, lambda: 3 * GIB).check(2 * GIB)


def test_without_a_ceiling_of_ones_own_half_of_the_memory_is_it() -> None:
    MemoryGuard(lambda: 0.0, lambda: GIB >> 3).check(0)
    with pytest.raises(UsageError, match="memory_over_half"):
        MemoryGuard(lambda: 0.0, lambda: 1 << 60).check(0)


def test_it_looks_only_now_and_then() -> None:
    now = [0.0]
    looks: list[float] = []

    def held() -> int:
        looks.append(now[0])
        return 0

    guard = MemoryGuard(lambda: now[0], held)
    for now[0] in (0.0, 1.0, 9.9, 10.0, 15.0, 20.0):
        guard.check(GIB)
    assert looks == [0.0, 10.0, 20.0]


def test_what_children_hold_counts_too() -> None:
    before = session_memory()
    code = "held = bytearray(b'1') * (100 << 20); print(flush=True); input()"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    grown = session_memory() - before
    child.communicate(b"\n")
    assert grown >= 100 << 20


def test_a_loop_goes_on_while_memory_is_measured_and_ends_with_what_was_found() -> None:
    measured, seen = threading.Event(), threading.Event()

    def held() -> int:
        seen.set()
        assert measured.wait(10.0)
        return 3 * GIB

    guard = MemoryGuard(lambda: 0.0, held)
    guard.check_beside(2 * GIB)
    assert seen.wait(10.0)
    guard.check_beside(2 * GIB)
    measured.set()

    def refused() -> bool:
        try:
            guard.check_beside(2 * GIB)
        except UsageError as error:
            return error.message.kind == "memory_over_limit"
        return False

    wait_for(refused, 10.0, "the error")
