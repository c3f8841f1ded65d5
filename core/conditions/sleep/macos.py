"""Sleep on macOS: IORegisterForSystemPower of IOKit (Apple's Technical Q&A QA1340). Not tried on a real Mac."""

import ctypes
import threading
from typing import Any

from core.conditions.sleep.announcer import Announcer
from core.conditions.source import NotAvailable

_CAN_SLEEP, _WILL_SLEEP, _HAS_WOKEN = 0xE0000270, 0xE0000280, 0xE0000300
_FRAMEWORK = "/System/Library/Frameworks/{0}.framework/{0}"
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)


class PowerManagement(Announcer):
    """The system waits for `allow_sleep` for at most 30 seconds."""

    name = "IOKit (IORegisterForSystemPower)"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: int | None = None
        """The notification that the system waits for an answer to."""
        self._announced: bool | None = None
        self._root = 0
        self._callback = _CALLBACK(self._on_event)

    def open(self) -> bool:
        try:
            self._kit: Any = ctypes.CDLL(_FRAMEWORK.format("IOKit"))
            self._foundation: Any = ctypes.CDLL(_FRAMEWORK.format("CoreFoundation"))
        except OSError:
            raise NotAvailable("other_system", system="macOS") from None
        for function in (self._kit.IONotificationPortGetRunLoopSource, self._foundation.CFRunLoopGetCurrent):
            function.restype = ctypes.c_void_p
        self._kit.IORegisterForSystemPower.restype = ctypes.c_uint32
        port, notifier = ctypes.c_void_p(), ctypes.c_uint32()
        self._root = self._kit.IORegisterForSystemPower(
            None, ctypes.byref(port), self._callback, ctypes.byref(notifier)
        )
        if not self._root:
            raise NotAvailable("power_management_silent")
        self._mode = ctypes.c_void_p.in_dll(self._foundation, "kCFRunLoopDefaultMode")
        source = ctypes.c_void_p(self._kit.IONotificationPortGetRunLoopSource(port))
        self._foundation.CFRunLoopAddSource(ctypes.c_void_p(self._foundation.CFRunLoopGetCurrent()), source, self._mode)
        return False

    def wait(self, seconds: float) -> bool | None:
        self._announced = None
        self._foundation.CFRunLoopRunInMode(self._mode, ctypes.c_double(seconds), ctypes.c_bool(True))
        return self._announced

    def allow_sleep(self) -> None:
        with self._lock:
            if self._waiting is not None:
                self._allow(self._waiting)
                self._waiting = None

    def _on_event(self, _context: int, _service: int, message: int, argument: int) -> None:
        if message == _CAN_SLEEP:
            self._allow(argument)
        elif message == _WILL_SLEEP:
            with self._lock:
                self._waiting = argument
            self._announced = True
        elif message == _HAS_WOKEN:
            self._announced = False

    def _allow(self, argument: int) -> None:
        self._kit.IOAllowPowerChange(ctypes.c_uint32(self._root), ctypes.c_void_p(argument))
