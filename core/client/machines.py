"""The list of the volunteer's other machines, in the profile's folder: window and command line share it."""

from pathlib import Path

import msgspec

from core.api.errors import UsageError, WorldError, os_errors_as
from core.api.machines import Machine, checked_machine
from core.client.profile import Profile


class Machines:
    """Every method reads the file: another process may have changed it."""

    def __init__(self, profile: Profile) -> None:
        self._path = profile.path / "machines.json"

    def all(self) -> list[Machine]:
        """In the order in which they were added.

        Raises:
            WorldError: the file cannot be read.
        """
        try:
            with os_errors_as("machines_unreadable", path=str(self._path)):
                return msgspec.json.decode(self._path.read_bytes(), type=list[Machine]) if self._path.exists() else []
        except msgspec.DecodeError as error:
            raise WorldError("machines_unreadable", path=str(self._path), detail=str(error)) from None

    def named(self, name: str) -> Machine:
        """Raises UsageError: there is none of that name."""
        machines = self.all()
        for machine in machines:
            if machine.name == name:
                return machine
        if not machines:
            raise UsageError("machine_unknown_yet", name=name)
        raise UsageError("machine_unknown", name=name, known=[machine.name for machine in machines])

    def add(self, name: str, address: str) -> Machine:
        """Raises UsageError: the name is taken, or one of both cannot be used."""
        machine = checked_machine(name, address)
        self._write([*self._without(name), machine])
        return machine

    def remove(self, name: str) -> None:
        """Nothing changes on the machine itself."""
        gone = self.named(name)
        self._write([machine for machine in self.all() if machine != gone])

    def rename(self, old: str, new: str) -> Machine:
        before = self.named(old)
        renamed = checked_machine(new, before.address)
        self._without(new)
        self._write([renamed if machine == before else machine for machine in self.all()])
        return renamed

    def _without(self, name: str) -> list[Machine]:
        machines = self.all()
        if any(machine.name == name for machine in machines):
            raise UsageError("machine_name_taken", name=name)
        return machines

    def _write(self, machines: list[Machine]) -> None:
        with os_errors_as("file_not_written", path=str(self._path)):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            unfinished = Path(f"{self._path}.new")
            unfinished.write_bytes(msgspec.json.format(msgspec.json.encode(machines), indent=2))
            unfinished.replace(self._path)
