"""What Idlehive holds on the disk, in words."""

from app.text.formats import numbers, times
from app.text.i18n import tr
from core.api.disk import DiskUse


def kinds(use: DiskUse) -> list[tuple[str, int]]:
    """Each kind with its bytes; those that there are."""
    named = (
        (tr("Data of projects"), use.data),
        (tr("Copies of models"), use.copies),
        (tr("Practice project"), use.practice),
        (tr("Libraries for training"), use.compute),
        (tr("History and settings"), use.record),
        (tr("Logs"), use.logs),
        (tr("Other files"), use.other),
    )
    return [(name, size) for name, size in named if size]


def left(use: DiskUse) -> str:
    return tr("{size} are left on this disk.", size=numbers.size(use.disk_free))


def measured(at: float) -> str:
    return tr("Measured at {time}.", time=times.second(at))


def to_free(use: DiskUse) -> str:
    if not use.to_free:
        return tr("Nothing can be deleted now.")
    return tr("{size} can be deleted and fetched again when they are needed.", size=numbers.size(use.to_free))
