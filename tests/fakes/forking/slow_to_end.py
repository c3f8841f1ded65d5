"""A library that cleans up after a thread late (pthread_key_create(3)): when Python already says that it has ended."""

import ctypes
from typing import Any

_libc = ctypes.CDLL(None)
_cleaned_up = ctypes.create_string_buffer(64)
"""A sem_t."""
_libc.sem_init(_cleaned_up, 0, 0)


def is_cleaned_up() -> bool:
    return int(_libc.sem_trywait(_cleaned_up)) == 0


def _at_end(call: Any, argument: int) -> None:
    """Of this thread; in the order in which it was asked for."""
    key = ctypes.c_uint()
    _libc.pthread_key_create(ctypes.byref(key), call)
    _libc.pthread_setspecific(key, ctypes.c_void_p(argument))


_at_end(_libc.usleep, 300_000)
_at_end(_libc.sem_post, ctypes.addressof(_cleaned_up))
