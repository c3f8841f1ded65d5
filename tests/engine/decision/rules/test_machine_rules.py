"""What the machine's doings mean: the rules alone, then in an engine whose desktop is a private bus."""

import os
from collections.abc import Iterator

import pytest

from core.api.errors import UsageError
from core.api.intent import Contribute
from core.api.message import Message
from core.api.preferences.commands import ListPreferences, PreferenceInfo, SetPreference, values_of
from core.api.preferences.preferences import DEFAULTS, Values, preference_named
from core.api.preferences.value_types import programs
from core.api.project.peer_address import is_far
from core.api.sensors import GetSensors, SensorInfo
from core.api.snapshot import Snapshot
from core.conditions.full_screen import FullScreen
from core.conditions.gpu import GpuState
from core.conditions.machine import Readings
from core.conditions.network import Network
from core.conditions.nvml import Gpu
from core.conditions.power import Power
from core.conditions.presence import Presence
from core.conditions.processor import Processor
from core.conditions.programs import RunningPrograms
from core.engine.decision.facts import Conditions, Facts, Membership
from core.engine.decision.intent import Intent
from core.engine.decision.rules import machine_rules
from core.engine.decision.rules.machine_rules import next_moment, surroundings, watches_volunteer
from tests.conditions.desktop.dbus_services import PrivateBus, Service
from tests.fakes.running_engine import RunningEngine
from tests.waiting import wait_for

NOW = 1_000_000.0
PEER = "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N"


def kinds(
    readings: Readings, chosen: Values = DEFAULTS, *, uses_gpu: bool = False, needs_internet: bool = True
) -> dict[str, bool]:
    """Every reason, and whether holding is enough."""
    gpu = GpuState(Gpu(0, "GPU-0", "Pretended GPU", 8 << 30, 0)) if uses_gpu else None
    membership = Membership("p", needs_internet=needs_internet)
    conditions = Conditions(machine=readings)
    facts = Facts(Intent(wanted=True), conditions, membership, NOW, {**DEFAULTS, **chosen}, gpu=gpu)
    return {reason.kind: reason.hold for reason in machine_rules.reasons(facts)}


@pytest.mark.parametrize(("idle", "waits"), [(0, True), (179.9, True), (180, False), (5000, False)])
def test_a_gpu_waits_for_three_minutes_without_input(idle: float, waits: bool) -> None:
    readings = Readings(presence=Presence(NOW - idle))
    assert ("in_use" in kinds(readings, uses_gpu=True)) is waits
    assert "in_use" not in kinds(readings, uses_gpu=False)


@pytest.mark.parametrize(
    ("others", "most", "waits"), [(75, 75, True), (70, 75, False), (100, 0, False), (25, 25, True)]
)
def test_a_session_waits_while_others_keep_the_processor_busy(others: int, most: int, waits: bool) -> None:
    found = kinds(Readings(processor=Processor(others)), {"busy_processor": most})
    assert found == ({"processor_busy": True} if waits else {})


def test_gpu_and_processor_wait_for_times_of_their_own() -> None:
    readings = Readings(presence=Presence(NOW - 100))
    chosen = {"idle_gpu": 60, "idle_processor": 120}
    assert "in_use" not in kinds(readings, chosen, uses_gpu=True)
    assert "in_use" in kinds(readings, chosen, uses_gpu=False)


def test_unknown_stands_against_nothing() -> None:
    strict = {"idle_gpu": 3600, "idle_processor": 3600, "battery_level": 100}
    assert kinds(Readings(), strict, uses_gpu=True) == {}
    assert kinds(Readings(network=Network(online=True, metered=None)), strict) == {}


def test_the_wait_ends_at_a_known_moment_unless_it_is_over() -> None:
    readings, effective = Readings(presence=Presence(NOW - 100)), {**DEFAULTS, "idle_gpu": 180}
    assert next_moment(readings, effective, NOW, uses_gpu=True) == NOW + 80
    assert next_moment(readings, effective, NOW + 80, uses_gpu=True) is None
    assert next_moment(readings, effective, NOW, uses_gpu=False) is None
    assert next_moment(Readings(), effective, NOW, uses_gpu=True) is None


@pytest.mark.parametrize(
    "readings",
    [
        Readings(full_screen=FullScreen(Message("screen_filled_by", {"program": "Doom"}))),
        Readings(programs=RunningPrograms(("doom",))),
    ],
)
def test_a_game_wants_the_memory_of_a_gpu_back_and_of_the_processor_only_its_time(readings: Readings) -> None:
    assert set(kinds(readings, uses_gpu=True).values()) == {False}
    assert set(kinds(readings, uses_gpu=False).values()) == {True}


def test_full_screen_can_be_allowed_and_the_volunteers_own_list_still_counts() -> None:
    readings = Readings(
        full_screen=FullScreen(Message("screen_filled_by", {"program": "Film"})), programs=RunningPrograms(("film",))
    )
    assert kinds(readings, {"full_screen": 1}).keys() == {"program_running"}


@pytest.mark.parametrize(
    ("power", "allowed", "expected"),
    [
        (Power(on_battery=True, level=80), 0, {"on_battery"}),
        (Power(on_battery=True, level=49), 0, {"on_battery", "battery_low"}),
        (Power(on_battery=True, level=80), 1, set()),
        (Power(on_battery=True, level=50), 1, set()),
        (Power(on_battery=True, level=49), 1, {"battery_low"}),
        (Power(on_battery=True, level=None), 1, set()),
        (Power(on_battery=False, level=5), 0, set()),
        (Power(on_battery=None), 0, set()),
    ],
)
def test_a_battery_counts_only_while_the_computer_runs_on_it(power: Power, allowed: int, expected: set[str]) -> None:
    assert kinds(Readings(power=power), {"on_battery": allowed}).keys() == expected


def test_a_metered_line_is_given_up_and_an_absent_one_is_waited_for() -> None:
    readings = Readings(network=Network(online=False, metered=True))
    assert kinds(readings) == {"offline": True, "metered": False}
    assert kinds(readings, {"metered": 1}) == {"offline": True}
    assert kinds(readings, needs_internet=False) == {}


@pytest.mark.parametrize(
    ("place", "far"),
    [
        ("/ip4/127.0.0.1/tcp/1", False),
        ("/ip4/192.168.3.4/tcp/1", False),
        ("/ip6/::1/tcp/1", False),
        ("/dns/localhost/tcp/1", False),
        ("/ip4/8.8.8.8/tcp/1", True),
        ("/dns4/example.org/tcp/1", True),
    ],
)
def test_a_run_at_home_needs_no_internet(place: str, far: bool) -> None:
    assert is_far(f"{place}/p2p/{PEER}") is far


def test_someone_who_types_does_not_change_the_snapshot_with_every_key() -> None:
    typed = [surroundings(Readings(presence=Presence(1_000_000.0 + second))).last_input for second in range(30)]
    assert typed == [1_000_000.0] * 10 + [1_000_010.0] * 10 + [1_000_020.0] * 10


class TestNames:
    def test_folders_and_repetitions_are_left_out(self) -> None:
        written = [" steam ", "/usr/bin/blender", r"C:\Games\doom.exe", "STEAM"]
        assert programs(written) == ("STEAM", "blender", "doom.exe")

    @pytest.mark.parametrize("name", ["", "  ", "/", "a\nb", "x" * 101])
    def test_what_is_no_name_is_refused(self, name: str) -> None:
        with pytest.raises(UsageError, match="program_name_invalid"):
            programs([name])

    def test_there_is_an_end_to_the_list(self) -> None:
        with pytest.raises(UsageError, match="programs_too_many most=64"):
            preference_named("programs").check([f"game{number}" for number in range(65)])


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[PrivateBus]:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with PrivateBus() as private:
        for name in ("DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS"):
            monkeypatch.setenv(name, private.address)
        yield private


MUTTER, CORE = "org.gnome.Mutter.IdleMonitor", "/org/gnome/Mutter/IdleMonitor/Core"


def mutter(bus: PrivateBus, milliseconds: int) -> Service:
    service = bus.service(MUTTER, CORE)
    service.answer(CORE, MUTTER, "GetIdletime", "t", f"ret = {milliseconds}")
    return service


def reasons(snapshot: Snapshot) -> set[str]:
    return {reason.kind for reason in snapshot.reasons}


class TestEngine:
    @pytest.fixture
    def seeing(self, bus: PrivateBus, engine: RunningEngine) -> RunningEngine:
        """An engine whose desktop is the private bus."""
        engine.blind = False
        return engine

    def test_a_volunteer_who_comes_back_is_left_alone_until_away_again(
        self, bus: PrivateBus, seeing: RunningEngine
    ) -> None:
        service = mutter(bus, 3_600_000)
        seeing.start()
        seeing.ask(SetPreference("idle_processor", 2), PreferenceInfo)
        seeing.contribute()
        service.answer(CORE, MUTTER, "GetIdletime", "t", "ret = 0")
        assert reasons(seeing.until("holding", 5)) == {"in_use"}
        service.answer(CORE, MUTTER, "GetIdletime", "t", "ret = 1900")
        assert seeing.until("contributing", 5).reasons == ()

    def test_a_session_does_not_begin_before_the_first_look(self, bus: PrivateBus, seeing: RunningEngine) -> None:
        mutter(bus, 0)
        seeing.start()
        seeing.ask(SetPreference("idle_processor", 3600), PreferenceInfo)
        seeing.tell(Contribute())
        wait_for(lambda: reasons(seeing.snapshot()) == {"in_use"})
        seeing.quit()
        seeing.start()
        wait_for(lambda: reasons(seeing.snapshot()) == {"in_use"})
        assert "Starting" not in seeing.log()

    def test_a_bus_that_hangs_holds_up_neither_commands_nor_the_session(
        self, bus: PrivateBus, seeing: RunningEngine
    ) -> None:
        service = mutter(bus, 0)
        os.kill(service.process.pid, 19)
        try:
            seeing.start()
            seeing.contribute()
        finally:
            os.kill(service.process.pid, 18)
        found = {info.name: info for info in seeing.ask(GetSensors(), list[SensorInfo])}
        assert not found["presence"].known

    def test_the_sensors_are_told_with_their_sources(self, bus: PrivateBus, seeing: RunningEngine) -> None:
        mutter(bus, 90_000)
        seeing.start()
        assert wait_for(lambda: seeing.snapshot().surroundings.last_input)
        found = {info.name: info for info in seeing.ask(GetSensors(), list[SensorInfo])}
        assert found["presence"].in_use == ("Mutter",)

    def test_the_list_of_programs_survives_a_restart(self, engine: RunningEngine) -> None:
        engine.start()
        engine.ask(SetPreference("programs", ("/usr/games/doom", "quake")), PreferenceInfo)
        engine.quit()
        engine.start()
        known = engine.ask(ListPreferences(), list[PreferenceInfo])
        assert values_of(known)["programs"] == ("doom", "quake")


@pytest.mark.parametrize(
    ("chosen", "uses_gpu", "watches"),
    [
        ({"full_screen": 1, "idle_processor": 0}, False, False),
        ({"full_screen": 0, "idle_processor": 0}, False, True),
        ({"full_screen": 1, "idle_processor": 60}, False, True),
        ({"full_screen": 1, "idle_processor": 60, "idle_gpu": 0}, True, False),
        ({"full_screen": 1, "idle_processor": 0, "idle_gpu": 60}, True, True),
    ],
)
def test_the_volunteer_is_watched_closely_only_if_it_matters(
    chosen: dict[str, int], uses_gpu: bool, watches: bool
) -> None:
    assert watches_volunteer({**DEFAULTS, **chosen}, uses_gpu=uses_gpu) is watches
