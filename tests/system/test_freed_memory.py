"""What a process has freed, other programs can have."""

import os
import platform
from pathlib import Path

import pytest

from core.system import freed_memory
from tests import fragmented


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has malloc_trim")
def test_freed_memory_is_given_back_although_some_after_it_is_in_use() -> None:
    with fragmented.in_use():
        pass
    held = resident()
    freed_memory.give_back()
    assert held - resident() > 0.9 * fragmented.SIZE


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
