"""Programs: which programs of the volunteer's list are running."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from core.api.message import Message
from core.api.sensors import IN_USE, NOT_NEEDED, Attempt, SensorInfo

_SOURCE = "list of processes"


@dataclass(frozen=True)
class RunningPrograms:
    names: tuple[str, ...] = ()
    """As the volunteer wrote them, in that order."""


def processes() -> Iterator[str]:
    """The names of all processes."""
    import psutil

    for process in psutil.process_iter():
        try:
            yield process.name()
        except psutil.Error:
            continue


class ProgramsSensor:
    name = "programs"
    every = 3.0

    def __init__(self, processes: Callable[[], Iterable[str]] = processes) -> None:
        self._processes = processes
        self._value = RunningPrograms()
        self.wanted: tuple[str, ...] = ()
        """Set the programs to look for."""

    def read(self) -> RunningPrograms:
        wanted = self.wanted
        running = {_plain(name) for name in self._processes()} if wanted else set()
        self._value = RunningPrograms(tuple(name for name in wanted if _plain(name) in running))
        return self._value

    def info(self) -> SensorInfo:
        if not self.wanted:
            return SensorInfo(self.name, Message("programs_not_named"), True, (Attempt(_SOURCE, NOT_NEEDED),))
        text = Message("programs_not_running", {"programs": self.wanted})
        if self._value.names:
            text = Message("programs_running", {"programs": self.wanted, "running": self._value.names})
        return SensorInfo(self.name, text, True, (Attempt(_SOURCE, IN_USE),))


def _plain(name: str) -> str:
    """Under Wine a program keeps its ending .exe, which people leave out."""
    return name.lower().removesuffix(".exe")
