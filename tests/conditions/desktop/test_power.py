"""On battery only where there is one."""

from types import SimpleNamespace

import psutil
import pytest

from app.text.formats.numbers import percent
from app.text.messages import sentence
from core.api.message import Message
from core.conditions.bus import Bus
from core.conditions.power import Power, PowerSensor, System, UPower
from tests.conditions.desktop.conftest import Clock
from tests.conditions.desktop.dbus_services import PrivateBus, Service

UPOWER, PATH = "org.freedesktop.UPower", "/org/freedesktop/UPower"
BATTERY, DISCHARGING = 2, 2


def upower(bus: PrivateBus, *, on_battery: bool) -> Service:
    return bus.template(UPOWER, PATH, "upower", OnBattery=on_battery, DaemonVersion="1.90.0")


def fill(service: Service, percent: float, *, is_present: bool = True) -> None:
    values = (BATTERY, DISCHARGING, percent, percent, 100.0, 9.0, 3600, 0, is_present, "battery", 1)
    service.act("SetupDisplayDevice", "uuddddxxbsu", *values)


def test_the_desktops_service_tells_supply_and_level(bus: PrivateBus, clock: Clock) -> None:
    service = upower(bus, on_battery=True)
    fill(service, 61.7)
    sensor = PowerSensor([UPower(Bus("SYSTEM"))], clock)
    assert sensor.read() == Power(on_battery=True, level=62)
    assert (sentence(sensor.info().value), sensor.info().in_use) == (
        f"On battery, battery {percent(0.62)} full.",
        ("UPower",),
    )
    service.set(PATH, UPOWER, OnBattery=("b", False))
    assert sensor.read() == Power(on_battery=False, level=62)


def test_a_desktop_computer_is_never_on_battery(bus: PrivateBus, clock: Clock) -> None:
    fill(upower(bus, on_battery=True), 0.0, is_present=False)
    sensor = PowerSensor([UPower(Bus("SYSTEM"))], clock)
    assert sensor.read() == Power(None)
    assert sensor.info().value == Message("battery_missing")


@pytest.mark.parametrize(
    ("battery", "power"),
    [
        (None, Power(None)),
        (SimpleNamespace(percent=80.4, power_plugged=True), Power(on_battery=False, level=80)),
        (SimpleNamespace(percent=9.6, power_plugged=False), Power(on_battery=True, level=10)),
        (SimpleNamespace(percent=50.0, power_plugged=None), Power(None, 50)),
    ],
)
def test_the_system_is_asked_where_there_is_no_service(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, battery: object, power: Power
) -> None:
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery, raising=False)
    sensor = PowerSensor([UPower(Bus("SYSTEM")), System()], clock)
    assert sensor.read() == power
    assert sensor.info().in_use == ("system",)


def test_a_gauge_that_wavers_while_the_battery_empties_only_falls(clock: Clock) -> None:
    levels = [Power(True, 20), Power(True, 19), Power(True, 21), Power(False, 21), Power(True, 22)]
    script = iter(levels)
    source = SimpleNamespace(name="script", retry=0.0, read=lambda: next(script))
    sensor = PowerSensor([source], clock)
    assert [sensor.read().level for _ in levels] == [20, 19, 19, 21, 22]
