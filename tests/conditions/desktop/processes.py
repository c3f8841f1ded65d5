"""Processes that tests start."""

import subprocess


def end(process: "subprocess.Popen[bytes]") -> None:
    """Politely, then by force."""
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
