"""The real engine with scripted programs, for `tests.fakes.running_engine`; its one argument is `Setting` as JSON."""

import sys
from importlib import import_module

import msgspec

from core.conditions.machine import Machine
from core.engine.__main__ import main
from core.engine.session.commands import Programs


class Setting(msgspec.Struct, frozen=True):
    """What a test has the engine run, and with what patience."""

    trainer: str
    host: str
    """Scripts in the place of both programs."""
    blind: bool
    """It knows nothing of what the machine is doing."""
    patience: dict[str, float]
    """Seconds, by module and name, in the place of the engine's own."""


def run(setting: Setting) -> int:
    for place, seconds in setting.patience.items():
        module, _, name = place.rpartition(".")
        assert isinstance(getattr(import_module(module), name), float), place
        setattr(import_module(module), name, seconds)
    programs = Programs([sys.executable, setting.trainer], [sys.executable, setting.host])
    return main(programs, Machine({}) if setting.blind else None)


if __name__ == "__main__":
    sys.exit(run(msgspec.json.decode(sys.argv[1], type=Setting)))
