"""Online or not, and who pays for it."""

import socket

import pytest

from app.text.messages import sentence
from core.conditions import network
from core.conditions.bus import Bus
from core.conditions.network import (
    Network,
    NetworkManagerMetered,
    NetworkManagerState,
    NetworkSensor,
    NoRoute,
    Route,
)
from core.conditions.source import LINGER, NotAvailable
from tests.conditions.desktop.conftest import Clock
from tests.conditions.desktop.dbus_services import PrivateBus, Service

NAME, PATH = "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager"


def network_manager(bus: PrivateBus, metered: int = 0, state: int = 70) -> Service:
    service = bus.template(NAME, PATH, "networkmanager")
    service.declare(Metered=("u", metered))
    service.set(PATH, NAME, State=("u", state))
    return service


def sensor(clock: Clock) -> NetworkSensor:
    bus = Bus("SYSTEM")
    return NetworkSensor([Route(), NetworkManagerState(bus), NoRoute()], [NetworkManagerMetered(bus)], clock)


@pytest.mark.parametrize(("number", "metered"), [(0, None), (1, True), (2, False), (3, True), (4, False), (99, None)])
def test_unknown_is_not_metered_and_a_guess_counts(bus: PrivateBus, number: int, metered: bool | None) -> None:
    network_manager(bus, metered=number)
    assert NetworkManagerMetered(Bus("SYSTEM")).read() is metered


def test_a_change_is_seen_with_the_next_reading(bus: PrivateBus, clock: Clock) -> None:
    service, both = network_manager(bus, metered=2), sensor(clock)
    assert both.read().metered is False
    service.set(PATH, NAME, Metered=("u", 1))
    assert both.read().metered is True


def test_without_network_manager_metered_is_unknown(clock: Clock) -> None:
    both = sensor(clock)
    assert both.read().metered is None
    assert "it is unknown whether the network is metered" in sentence(both.info().value)


@pytest.mark.parametrize(("state", "online"), [(20, False), (40, False), (50, False), (60, True), (70, True)])
def test_without_a_route_network_manager_decides(
    bus: PrivateBus, clock: Clock, monkeypatch: pytest.MonkeyPatch, state: int, online: bool
) -> None:
    network_manager(bus, state=state)
    monkeypatch.setattr(network, "_has_route", lambda *_: False)
    assert sensor(clock).read().online is online


def test_a_route_counts_although_network_manager_does_not_care_for_it(
    bus: PrivateBus, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    network_manager(bus, state=20)
    monkeypatch.setattr(network, "_has_route", lambda *_: True)
    assert sensor(clock).read().online is True


def test_a_lost_connection_is_waited_for_a_moment(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "_has_route", lambda *_: True)
    both = sensor(clock)
    assert both.read() == Network(online=True)
    monkeypatch.setattr(network, "_has_route", lambda *_: False)
    clock.now += LINGER - 1
    assert both.read().online is True
    clock.now += 1
    assert both.read().online is False
    assert sentence(both.info().value).startswith("Offline")


def test_the_systems_routes_are_asked_without_sending_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "_ELSEWHERE", ((socket.AF_INET, "127.0.0.1"),))
    assert Route().read()
    monkeypatch.setattr(network, "_ELSEWHERE", ((socket.AF_INET, "255.255.255.255"),))
    with pytest.raises(NotAvailable):
        Route().read()


def test_the_sensor_knows_nothing_without_sources(clock: Clock) -> None:
    blind = NetworkSensor([], [], clock)
    assert blind.read() == Network(None, None)
    assert not blind.info().known
