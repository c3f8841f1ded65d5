"""The real engine with scripted programs, for `tests.fakes.running_engine`; its one argument is `Setting` as JSON."""

import sys
from importlib import import_module

import msgspec

from core.client.profile import Profile
from core.conditions.machine import Machine
from core.engine.__main__ import main
from core.engine.session.commands import Programs
from core.engine.session.place import Here, InWsl


class Setting(msgspec.Struct, frozen=True):
    """What a test has the engine run, and with what patience."""

    trainer: str
    host: str
    """Scripts in the place of both programs; empty: the real ones."""
    blind: bool
    """It knows nothing of what the machine is doing."""
    patience: dict[str, float]
    """Seconds, by module and name, in the place of the engine's own."""
    wsl: str = ""
    """A script in the place of wsl.exe; empty: sessions run beside the engine."""


def run(setting: Setting) -> int:
    for place, seconds in setting.patience.items():
        module, _, name = place.rpartition(".")
        assert isinstance(getattr(import_module(module), name), float), place
        setattr(import_module(module), name, seconds)
    return main(_programs(setting), Machine({}) if setting.blind else None)


def _programs(setting: Setting) -> Programs:
    place = InWsl([sys.executable, setting.wsl]) if setting.wsl else Here()
    scripts = {"core.trainer": setting.trainer, "core.host": setting.host}
    trainer, host = (
        [sys.executable, script] if script else place.command(Profile.from_environment(), module)
        for module, script in scripts.items()
    )
    return Programs(trainer, host, place)


if __name__ == "__main__":
    sys.exit(run(msgspec.json.decode(sys.argv[1], type=Setting)))
