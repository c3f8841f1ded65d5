"""Idle time on macOS: the HID system's own count, through IOKit. Not tried on a real Mac."""

import plistlib
import subprocess

from core.conditions.source import RETRY, NotAvailable

_TIMEOUT = 2.0


class HidIdleTime:
    """`ioreg`, part of macOS, prints IOKit's properties of the HID system."""

    name = "IOKit (HIDIdleTime)"
    retry = RETRY

    def read(self) -> float:
        """Seconds. Raises NotAvailable."""
        try:
            done = subprocess.run(
                ["/usr/sbin/ioreg", "-a", "-c", "IOHIDSystem", "-d", "4", "-k", "HIDIdleTime"],
                capture_output=True,
                timeout=_TIMEOUT,
                check=True,
            )
            idle = _find(plistlib.loads(done.stdout))
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            raise NotAvailable("program_failed", program="ioreg", detail=type(error).__name__) from None
        if idle is None:
            raise NotAvailable("program_silent", program="ioreg")
        return idle / 1e9


def _find(tree: object) -> int | None:
    """The first HIDIdleTime in the output, in nanoseconds."""
    if isinstance(tree, dict):
        if isinstance(found := tree.get("HIDIdleTime"), int):
            return found
        tree = tree.get("IORegistryEntryChildren", [])
    if isinstance(tree, list):
        return next((found for branch in tree if (found := _find(branch)) is not None), None)
    return None
