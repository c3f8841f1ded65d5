"""Names of programs as volunteers write them: during these nothing is contributed."""

from collections.abc import Iterable
from pathlib import PureWindowsPath

import msgspec

from core.api.errors import UsageError

MOST = 64
_LONGEST = 100


class GetPrograms(msgspec.Struct, frozen=True, tag=True):
    """Reply: list of str, the programs during which nothing is contributed."""


class SetPrograms(msgspec.Struct, frozen=True, tag=True):
    """Replace that list by these names of executables. Reply: list of str, as it stands now."""

    names: tuple[str, ...]


ProgramsCommand = GetPrograms | SetPrograms


def checked(names: Iterable[str]) -> tuple[str, ...]:
    """The names of executables, without folders and repetitions, in their order.

    Raises:
        UsageError: one is no such name, or there are too many.
    """
    found = {name.lower(): name for name in map(_name, names)}
    if len(found) > MOST:
        raise UsageError("programs_too_many", most=MOST, given=len(found))
    return tuple(found.values())


def _name(text: str) -> str:
    # A Windows path is the wider notion: it has both slashes.
    name = PureWindowsPath(text.strip()).name
    if not 0 < len(name) <= _LONGEST or not name.isprintable():
        raise UsageError("program_name_invalid", name=text[:_LONGEST])
    return name
