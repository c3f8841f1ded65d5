"""What doctor says of the sensors."""

import re
from pathlib import Path

import core.conditions
from app.cli.doctor import sensors
from app.text.messages import sentence
from app.text.sensors import SOURCES
from app.text.wordings.reasons import SENSORS
from core.api.errors import WorldError
from core.api.message import Message
from core.api.sensors import IN_USE, NOT_NEEDED, Attempt, GetSensors, SensorInfo
from core.client.profile import Profile
from tests.cli.conftest import RunCli
from tests.fakes.scripted_engine import ScriptedEngine

PRESENCE = SensorInfo(
    "presence",
    Message("last_input", {"ago": 12.0}),
    True,
    (Attempt("Mutter", Message("service_not_running")), Attempt("X11", IN_USE), Attempt("logind", NOT_NEEDED)),
)


def test_doctor_tells_the_source_in_use_and_what_was_tried_before(profile: Profile, engine: ScriptedEngine) -> None:
    engine.answer(GetSensors, [PRESENCE])
    (finding,) = sensors.sensors(profile)
    assert finding.text == f"{sentence(PRESENCE.value)} Source: X11. Tried: Mutter: not running."
    assert (finding.name, finding.level, finding.advice) == ("presence", "ok", "")


NAMES_OF_PROGRAMS = {"Mutter", "X11", "logind", "UPower", "GameMode", "NetworkManager", "NVML"}


def test_every_sensor_and_source_of_this_computer_has_words_unless_it_is_a_program_s_name() -> None:
    code = "".join(file.read_text() for file in Path(core.conditions.__file__).parent.rglob("*.py"))
    named = set(re.findall(r'(?:^    name|^_SOURCE) = "([^"]+)"|(?:Attempt|SensorInfo)\("([^"]+)"', code, re.MULTILINE))
    names = {first or second for first, second in named}
    systems = {name for name in names if name.startswith(("Windows (", "IOKit (", "Wayland ("))}
    assert names - systems - NAMES_OF_PROGRAMS == {*SOURCES, *SENSORS}


def test_doctor_names_rows_and_sources_in_the_language(engine: ScriptedEngine, run_cli: RunCli) -> None:
    tried = (Attempt("NetworkManager", Message("system_bus_missing")), Attempt("clocks", IN_USE))
    engine.answer(GetSensors, [SensorInfo("sleep", Message("sleep_announced"), True, tried)])
    said = run_cli("doctor", LC_ALL="de_DE.UTF-8", COLUMNS="300").stdout
    (line,) = (line for line in said.splitlines() if "Ruhezustand" in line)
    assert line.endswith("Quelle: Uhren. Versucht: NetworkManager: kein Systembus.")


def test_what_is_unknown_is_a_warning_with_its_meaning(profile: Profile, engine: ScriptedEngine) -> None:
    engine.answer(GetSensors, [SensorInfo("presence", Message("input_unknown"), False)])
    (finding,) = sensors.sensors(profile)
    assert finding.level == "warn"
    assert "no effect" in finding.advice


def test_an_engine_that_cannot_tell_is_a_problem(profile: Profile, engine: ScriptedEngine) -> None:
    engine.answer(GetSensors, WorldError("It is broken."))
    (finding,) = sensors.sensors(profile)
    assert (finding.level, "It is broken." in finding.text) == ("problem", True)
