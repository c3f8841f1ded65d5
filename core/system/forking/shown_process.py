"""What the system shows of a forked process: its own command line and session, not those of the process it comes from.

Linux reads both from the memory of the process (proc(5), `cmdline` and `environ`), where they take no more room than
they had at its start: `reserve` makes some.
"""

import ctypes
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.system.orphans import TAG

_ROOM, _PATH_ROOM = 2048, 64
"""Bytes; a longer command line is cut off."""
_ARGUMENTS, _ENVIRONMENT = slice(45, 47), slice(47, 49)
"""Beginning and end of the two among the fields of /proc/self/stat that follow the name of the program."""


def reserve(command: Sequence[str], environment: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """A command and its environment, with room for what the processes show that are forked from it."""
    return [*command, " " * _ROOM], {**environment, TAG: _padded(environment[TAG])}


def show(command: Sequence[str], folder: Path) -> None:
    """From now on this process and those forked from it are shown as `command`, of the session with this folder.

    Programs that they start get the session's folder from `os.environ`.
    """
    os.environ[TAG] = str(folder)
    begin, end = _addresses(_ARGUMENTS)
    words = b"".join(os.fsencode(word) + b"\0" for word in command)
    # If the last byte were not zero, the kernel would read on in the environment (proc(5), cmdline).
    ctypes.memmove(begin, words[: end - begin - 1].ljust(end - begin, b"\0"), end - begin)
    begin, end = _addresses(_ENVIRONMENT)
    key = f"{TAG}=".encode()
    variables = ctypes.string_at(begin, end - begin).split(b"\0")
    at = begin
    for variable in variables:
        if variable.startswith(key):
            value = os.fsencode(str(folder)).ljust(len(variable) - len(key), b"/")
            if len(value) == len(variable) - len(key):
                ctypes.memmove(at + len(key), value, len(value))
        at += len(variable) + 1


def _padded(folder: str) -> str:
    """The same folder in more bytes."""
    return folder + "/" * _PATH_ROOM


def _addresses(fields: slice) -> tuple[int, int]:
    begin, end = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[fields]
    return int(begin), int(end)
