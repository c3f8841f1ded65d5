"""The history of another machine, added to that of this one: duplicates count once, so it can be done again."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from core.api.errors import os_errors_as
from core.api.machines import Machine
from core.api.record.record import Written
from core.client import ssh

TIMEOUT = 600.0
"""Seconds in which a whole history is written, sent or read."""


def collect(machine: Machine, add: Callable[[Path], Written]) -> Written:
    """What `add` made of the file with its history. It blocks for as long as the other machine takes.

    Raises:
        WorldError: the machine cannot be reached, or this computer has no room for the file.
    """
    found = ssh.fetch(machine, "history", "export", "-", seconds=TIMEOUT)
    with os_errors_as("file_not_written", path="history.json"), TemporaryDirectory(prefix="idlehive-") as folder:
        file = Path(folder) / "history.json"
        file.write_bytes(found)
        return add(file)
