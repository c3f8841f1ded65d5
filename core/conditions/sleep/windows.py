"""Sleep on Windows: PowerRegisterSuspendResumeNotification of powrprof. Not tried on a real Windows."""

import ctypes
import queue
import threading
from typing import Any

from core.conditions.sleep.announcer import Announcer
from core.conditions.source import NotAvailable

_BY_CALLBACK = 2
_SUSPENDS, _RESUMES = 4, 18
_LONGEST = 1.8
"""Seconds: Windows waits two seconds for the callback."""
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)


class _Parameters(ctypes.Structure):
    _fields_ = (("callback", _CALLBACK), ("context", ctypes.c_void_p))


def _libraries() -> Any:
    """Those of Windows, whatever system the types are checked for."""
    libraries = getattr(ctypes, "windll", None)
    if libraries is None:
        raise NotAvailable("other_system", system="Windows")
    return libraries


class SuspendNotification(Announcer):
    name = "Windows (PowerRegisterSuspendResumeNotification)"

    def __init__(self) -> None:
        self._announced: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._may_sleep = threading.Event()
        self._parameters = _Parameters(_CALLBACK(self._on_event), None)
        self._handle = ctypes.c_void_p()

    def open(self) -> bool:
        register = _libraries().powrprof.PowerRegisterSuspendResumeNotification
        if register(_BY_CALLBACK, ctypes.byref(self._parameters), ctypes.byref(self._handle)):
            raise NotAvailable("power_management_refuses")
        return False

    def wait(self, seconds: float) -> bool | None:
        try:
            return self._announced.get(timeout=seconds)
        except queue.Empty:
            return None

    def delay_sleep(self) -> None:
        self._may_sleep.clear()

    def allow_sleep(self) -> None:
        self._may_sleep.set()

    def close(self) -> None:
        self.allow_sleep()
        if self._handle.value:
            _libraries().powrprof.PowerUnregisterSuspendResumeNotification(self._handle)
            self._handle = ctypes.c_void_p()

    def _on_event(self, _context: int, kind: int, _setting: int) -> int:
        if kind == _SUSPENDS:
            self._may_sleep.clear()
            self._announced.put(True)
            self._may_sleep.wait(_LONGEST)
        elif kind == _RESUMES:
            self._announced.put(False)
        return 0
