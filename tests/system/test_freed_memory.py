"""What a process has freed, other programs can have."""

import ctypes
import os
import platform
from pathlib import Path

import pytest

from core.system import freed_memory

_BLOCK, _BLOCKS = 64 << 10, 1000


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has malloc_trim")
def test_freed_memory_is_given_back_although_some_after_it_is_in_use() -> None:
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    blocks = [library.malloc(_BLOCK) for _ in range(_BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, _BLOCK)
    for block in blocks[:-1]:
        library.free(block)
    held = resident()
    freed_memory.give_back()
    assert held - resident() > 0.9 * _BLOCK * _BLOCKS
    library.free(blocks[-1])


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
