"""The sensors in `doctor`: the value of each, its source, and the sources that failed."""

import subprocess

import msgspec

from app.cli.console.connection import running
from app.cli.doctor.checks import TIMEOUT, Finding
from app.text.i18n import N_, tr, translate
from app.text.messages import sentence
from app.text.sensors import in_use, source
from core.api.errors import IdlehiveError
from core.api.sensors import IN_USE, NOT_NEEDED, GetSensors, SensorInfo
from core.client.installation import core_command, core_environment
from core.client.profile import Profile

_ADVICE = {
    "presence": N_("Limits that wait for you to be away have no effect here."),
    "full screen": N_("Name your games with `idlehive limits programs add`."),
}
_SILENT = (IN_USE, NOT_NEEDED)
"""Outcomes of a source that are not shown."""


def sensors(profile: Profile) -> list[Finding]:
    """The engine's own if one runs, since it may see another desktop than this terminal does."""
    try:
        with running(profile) as engine:
            found = engine.request(GetSensors(), list[SensorInfo], timeout=TIMEOUT) if engine else _read_apart()
    except (IdlehiveError, OSError, subprocess.SubprocessError, msgspec.DecodeError) as error:
        silent = tr("They cannot be asked: {why}", why=_why(error))
        return [Finding("sensors", "problem", silent, tr("`idlehive log` may say why."))]
    return [_finding(sensor) for sensor in found]


def _why(error: Exception) -> str:
    return sentence(error.message) if isinstance(error, IdlehiveError) else str(error)


def _read_apart() -> list[SensorInfo]:
    """Read in a separate process, so that a desktop service that hangs cannot block doctor."""
    read = subprocess.run(
        core_command("core.conditions"), capture_output=True, timeout=TIMEOUT, check=True, env=core_environment()
    )
    return msgspec.json.decode(read.stdout, type=list[SensorInfo])


def _finding(sensor: SensorInfo) -> Finding:
    used = in_use(sensor)
    read = " " + tr("Source: {source}.", source=used) if used else ""
    others = "; ".join(
        f"{source(each.source)}: {sentence(each.outcome)}" for each in sensor.tried if each.outcome not in _SILENT
    )
    tried = " " + tr("Tried: {others}.", others=others) if others else ""
    advice = "" if sensor.known else translate(_ADVICE.get(sensor.name, ""))
    return Finding(sensor.name, "ok" if sensor.known else "warn", f"{sentence(sensor.value)}{read}{tried}", advice)
