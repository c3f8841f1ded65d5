"""Sets a GPU's power limit in the driver where that is permitted (root), and restores the original one.

The original limit is written to a file first, so that after a killed engine the next one can restore it.
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
    """The power limit for the GPU that a session computes on; None without one."""
    state = next((state for state in states.present if state.gpu.uuid == in_use), None)
    if state is None or not effective["gpu_power_limit"] or not effective["gpu_power"]:
        return None
    return Setting(state.gpu.uuid, state.gpu.number, float(effective["gpu_power"]))


class PowerLimit:
    """`original` is the file for the original limit; `warn` is called if the driver refuses."""

    def __init__(self, original: Path, warn: Callable[[Message], None]) -> None:
        self._original, self._warn = original, warn
        self._present: Setting | None = None
        self._refused: Setting | None = None

    def apply(self, wanted: Setting | None) -> None:
        """Set `wanted`; None restores the original limit."""
        if wanted in (self._present, self._refused) and (wanted is not None or not self._original.exists()):
            return
        self.restore()
        if wanted is not None:
            self._set(wanted)

    def restore(self) -> None:
        """Restore the original limit, also one that a killed engine left."""
        self._present = self._refused = None
        try:
            before = msgspec.json.decode(self._original.read_bytes(), type=Setting)
            nvml.set_power_limit(before.number, before.watts)
        except FileNotFoundError:
            return
        except (OSError, msgspec.DecodeError) as error:
            _log.warning("The power limit of the graphics card could not be restored: %s", error)
            return
        self._original.unlink()

    def _set(self, wanted: Setting) -> None:
        try:
            before = nvml.get_power_limit(wanted.number)
            write_atomically(self._original, msgspec.json.encode(Setting(wanted.uuid, wanted.number, before)))
            nvml.set_power_limit(wanted.number, wanted.watts)
        except OSError as error:
            self._refused = wanted
            self._original.unlink(missing_ok=True)
            self._warn(Message("power_limit_refused", {"watts": wanted.watts, "detail": str(error)}))
            return
        self._present = wanted
