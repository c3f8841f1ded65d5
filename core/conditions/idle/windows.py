"""Idle time on Windows: GetLastInputInfo of user32. Not tried on a real Windows."""

import ctypes

from core.conditions.source import RETRY, NotAvailable


class _LastInputInfo(ctypes.Structure):
    _fields_ = (("cbSize", ctypes.c_uint32), ("dwTime", ctypes.c_uint32))


class LastInput:
    """Idle time of this process's session."""

    name = "Windows (GetLastInputInfo)"
    retry = RETRY

    def read(self) -> float:
        """Seconds. Raises NotAvailable."""
        libraries = getattr(ctypes, "windll", None)
        if libraries is None:
            raise NotAvailable("other_system", system="Windows")
        info = _LastInputInfo(ctypes.sizeof(_LastInputInfo), 0)
        if not libraries.user32.GetLastInputInfo(ctypes.byref(info)):
            raise NotAvailable("input_missing")
        # Both count milliseconds in 32 bits and wrap to 0 after 49 days.
        return float((libraries.kernel32.GetTickCount() - info.dwTime) % (1 << 32)) / 1000
