"""What a profile holds on the disk."""

import msgspec


class GetDiskUse(msgspec.Struct, frozen=True, tag=True):
    """Reply: DiskUse."""


class FreeSpace(msgspec.Struct, frozen=True, tag=True):
    """Delete what no session uses and any can fetch again. Reply: DiskUse."""


class DiskUse(msgspec.Struct, frozen=True):
    """Bytes."""

    data: int
    """Data sets of projects."""
    copies: int
    """States of runs, from which the next sessions start."""
    practice: int
    """What the practice project has learned."""
    record: int
    logs: int
    other: int
    to_free: int
    """What `FreeSpace` would delete now."""
    disk_free: int
    compute: int = 0
    """The libraries for training."""


DiskCommand = GetDiskUse | FreeSpace
