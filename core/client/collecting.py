"""The history of another machine, added to that of this one: duplicates count once, so it can be done again."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from core.api.machines import Machine
from core.api.record.record import Written
from core.client import ssh

_SECONDS = 600.0


def collect(machine: Machine, add: Callable[[Path], Written]) -> Written:
    """What `add` made of the file with its history. It blocks for as long as the other machine takes.

    Raises:
        WorldError: the machine cannot be reached.
    """
    with TemporaryDirectory(prefix="idlehive-") as folder:
        file = Path(folder) / "history.json"
        file.write_bytes(ssh.fetch(machine, "history", "export", "-", seconds=_SECONDS))
        return add(file)
