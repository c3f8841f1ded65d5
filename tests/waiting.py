"""Waits for what another process or thread is about to do: until it is so, or a deadline fails the test."""

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def wait_for(
    condition: Callable[[], Result], seconds: float = 15.0, what: str = "what was waited for", *, every: float = 0.02
) -> Result:
    """What `condition` returns, once it is true. `every` is for conditions that cost something themselves."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(every)
    return found
