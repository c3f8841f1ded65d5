"""Has the driver keep a GPU's power ceiling where that may be set (root), and puts back what was there.

What was there is written down before anything is changed: an engine that is killed leaves the note, and the next one
restores it.
"""

import logging
from collections.abc import Callable
from pathlib import Path

import msgspec

from core.api.message import Message
from core.api.preferences.preferences import Values
from core.conditions import nvml
from core.conditions.gpu import GpuStates
from core.system.atomic_file import write_atomically

_log = logging.getLogger(__name__)


class Setting(msgspec.Struct, frozen=True):
    """A power limit of one GPU."""

    uuid: str
    number: int
    watts: float


def wanted(states: GpuStates, effective: Values, in_use: str | None) -> Setting | None:
    """Only of the GPU that a session computes on: at other times it is the volunteer's alone."""
    state = next((state for state in states.present if state.gpu.uuid == in_use), None)
    if state is None or not effective["gpu_power_limit"] or not effective["gpu_power"]:
        return None
    return Setting(state.gpu.uuid, state.gpu.number, float(effective["gpu_power"]))


class PowerLimit:
    """`warn` is called if the driver refuses."""

    def __init__(self, note: Path, warn: Callable[[Message], None]) -> None:
        self._note, self._warn = note, warn
        self._present: Setting | None = None
        self._refused: Setting | None = None

    def keep(self, wanted: Setting | None) -> None:
        """Set `wanted`, or put back what was there before for None. Costs nothing where nothing changes."""
        if wanted in (self._present, self._refused) and (wanted is not None or not self._note.exists()):
            return
        self.restore()
        if wanted is not None:
            self._set(wanted)

    def restore(self) -> None:
        """Put back what the note says, this engine's or that of one that was killed."""
        self._present = self._refused = None
        try:
            before = msgspec.json.decode(self._note.read_bytes(), type=Setting)
            nvml.set_power_limit(before.number, before.watts)
        except FileNotFoundError:
            return
        except (OSError, msgspec.DecodeError) as error:
            _log.warning("The power limit of the graphics card could not be put back: %s", error)
            return
        self._note.unlink()

    def _set(self, wanted: Setting) -> None:
        try:
            before = nvml.get_power_limit(wanted.number)
            write_atomically(self._note, msgspec.json.encode(Setting(wanted.uuid, wanted.number, before)))
            nvml.set_power_limit(wanted.number, wanted.watts)
        except OSError as error:
            self._refused = wanted
            self._note.unlink(missing_ok=True)
            self._warn(Message("power_limit_refused", {"watts": wanted.watts, "detail": str(error)}))
            return
        self._present = wanted
