"""Processes that tests start, and what they wait for."""

import subprocess
import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def wait_for(condition: Callable[[], Result], what: str, seconds: float = 15.0) -> Result:
    """What `condition` returns, once it is true."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(0.02)
    return found


def end(process: "subprocess.Popen[bytes]") -> None:
    """Politely, then by force."""
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
