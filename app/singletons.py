"""Keeps None, True and False alive under a Qt binding that forgets to count its references to them.

PySide6 6.12.0 returns them without taking a reference. From Python 3.12 on they are immortal (PEP 683) and nobody
notices; on 3.11 every call that returns nothing brings None closer to "deallocating None", an abort after some
thousands of calls. PySide6 up to 6.11.3 counts correctly.
"""

import ctypes
import sys

_MORE_THAN_ANY_PROGRAM_USES = 1 << 40


def make_immortal() -> None:
    """Do on Python 3.11 what 3.12 does itself. To be called once, before Qt is used much."""
    if sys.version_info >= (3, 12):
        return
    for singleton in (None, True, False):
        # The count is the first field of an object (PyObject.ob_refcnt).
        ctypes.c_ssize_t.from_address(id(singleton)).value += _MORE_THAN_ANY_PROGRAM_USES
