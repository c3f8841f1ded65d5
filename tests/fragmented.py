"""Memory of the C library that is freed below some that is still in use."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

_BLOCK, _BLOCKS = 64 << 10, 1000
SIZE = _BLOCK * _BLOCKS
"""Bytes that are freed, but for the last block."""


@contextmanager
def in_use() -> Iterator[None]:
    """A context in which all of it is in use; afterwards the last block still is."""
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    blocks = [library.malloc(_BLOCK) for _ in range(_BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, _BLOCK)
    yield
    for block in blocks[:-1]:
        library.free(block)
