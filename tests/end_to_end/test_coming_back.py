"""A volunteer whose run goes on meanwhile: what is told and fetched on the way back, and what breaks it off."""

import time
from collections.abc import Callable, Iterator

import psutil
import pytest
from jeepney import DBusAddress, new_method_call

from app.text import status
from core.api.snapshot import Snapshot
from core.client.engine_client import EngineClient
from tests.conditions.desktop.dbus_services import PrivateBus, Service
from tests.end_to_end.machine import Machine, Participant, clean_machine, wait_for
from tests.end_to_end.organiser import Organiser

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

LOGIND, PATH = "org.freedesktop.login1", "/org/freedesktop/login1"
MANAGER = f"{LOGIND}.Manager"
STARTS_WITHIN = 300.0
CEILING = 1_000_000
"""Bytes per second: a state takes seconds, an epoch several times as long."""


class Login:
    """logind as a test has it."""

    def __init__(self, bus: PrivateBus) -> None:
        self._bus = bus
        self._service: Service = bus.template(LOGIND, PATH, "logind")

    def tell(self, sleep: bool) -> None:
        self._service.act("EmitSignal", "sssav", MANAGER, "PrepareForSleep", "b", [("b", sleep)])

    @property
    def may_sleep(self) -> bool:
        return not self._bus.ask(new_method_call(DBusAddress(PATH, LOGIND, MANAGER), "ListInhibitors"))[0]


class Volunteer:
    def __init__(self, profile: Participant) -> None:
        self.profile = profile

    @property
    def epoch(self) -> int:
        number: int = self.profile.progress()["epoch"]
        return number

    def goes_on(self, epochs: int) -> int:
        target = self.epoch + epochs
        return wait_for(lambda: now if (now := self.epoch) >= target else 0, 180.0, f"epoch {target}")

    def follow(self, last: Callable[[Snapshot], bool], seconds: float = STARTS_WITHIN) -> list[Snapshot]:
        """Every snapshot, as a window gets it, up to the one that is `last`."""
        seen: list[Snapshot] = []
        deadline = time.monotonic() + seconds
        with EngineClient.connect(self.profile.home) as watcher:
            for message in watcher.messages(0.2):
                assert time.monotonic() < deadline, seen[-1:]
                if isinstance(message, Snapshot):
                    seen.append(message)
                    if last(message):
                        return seen
        raise AssertionError("the engine has ended")


machine = pytest.fixture(clean_machine, scope="module")


@pytest.fixture(scope="module")
def bus() -> Iterator[PrivateBus]:
    with PrivateBus() as opened:
        yield opened


@pytest.fixture(scope="module")
def login(bus: PrivateBus) -> Login:
    return Login(bus)


@pytest.fixture(scope="module")
def organiser(machine: Machine) -> Organiser:
    made = Organiser(machine, "organiser", target_batch_size=1536)
    made.start()
    return made


@pytest.fixture(scope="module")
def ben(machine: Machine, organiser: Organiser) -> Volunteer:
    """Whoever goes on."""
    profile = machine.profile("ben")
    profile.start("contribute", organiser.url)
    profile.until("contributing", STARTS_WITHIN)
    return Volunteer(profile)


@pytest.fixture(scope="module")
def ann(machine: Machine, organiser: Organiser, bus: PrivateBus, login: Login, ben: Volunteer) -> Volunteer:
    """Whose computer sleeps, and whose line is narrow."""
    profile = machine.profile("ann", DBUS_SYSTEM_BUS_ADDRESS=bus.address)
    assert profile.run("limits", "set", "download_limit", str(CEILING)).returncode == 0
    profile.start("contribute", organiser.url)
    profile.until("contributing", STARTS_WITHIN)
    made = Volunteer(profile)
    wait_for(lambda: profile.progress()["peers"] == 2, 60.0, "two peers")
    made.goes_on(1)
    return made


@pytest.fixture
def asleep(ann: Volunteer, ben: Volunteer, login: Login) -> int:
    """The computer sleeps while the run goes on; the epoch of the copy that the session left behind, 0 without one."""
    if ann.profile.status()["state"] != "contributing":
        ann.profile.run("resume")
        ann.profile.until("contributing", STARTS_WITHIN)
    login.tell(sleep=True)
    wait_for(lambda: login.may_sleep, 10.0, "the session is gone")
    copies = [int(copy.stem.rpartition("-")[2]) for copy in ann.profile.home.copies.glob("*/checkpoint-*")]
    ben.goes_on(2)
    return max(copies, default=0)


def is_on_its_way(snapshot: Snapshot) -> bool:
    return snapshot.state == "syncing" and snapshot.transfer is not None and snapshot.transfer.done > 0


def test_who_wakes_is_told_from_where_to_where_in_bytes_and_under_the_ceiling(
    ann: Volunteer, ben: Volunteer, login: Login, asleep: int
) -> None:
    login.tell(sleep=False)
    seen = ann.follow(lambda snapshot: snapshot.state == "contributing" and snapshot.progress.samples > 0)
    catching = [snapshot for snapshot in seen if snapshot.state == "syncing" and snapshot.catching_up]
    ways = {(way.from_epoch, way.to_epoch) for snapshot in catching if (way := snapshot.catching_up)}
    assert {first for first, _ in ways} == {asleep}
    assert min(last for _, last in ways) >= asleep + 2
    moved = [snapshot.transfer for snapshot in catching if snapshot.transfer]
    done = [transfer.done for transfer in moved]
    assert done == sorted(done)
    assert len(set(done)) >= 4
    assert 0 < max(done) <= moved[-1].total
    rates = [snapshot.traffic.download_rate for snapshot in catching]
    assert max(rates) <= 1.05 * CEILING
    shown = [status.status(snapshot, 0.0) for snapshot in catching]
    assert any(f"epoch {asleep} → " in line and " of " in line for line in shown)
    print(sorted(set(shown), key=shown.index), f"at most {max(rates):.0f} B/s")
    assert abs(ann.epoch - ben.epoch) <= 1


def test_a_computer_that_sleeps_again_does_not_wait_for_the_state(ann: Volunteer, login: Login, asleep: int) -> None:
    login.tell(sleep=False)
    *_, half = ann.follow(is_on_its_way)
    login.tell(sleep=True)
    began = time.monotonic()
    wait_for(lambda: login.may_sleep, 10.0, "it may sleep")
    took = time.monotonic() - began
    assert half.transfer
    left = (half.transfer.total - half.transfer.done) / CEILING
    print(f"{took:.1f} s, where the state would have taken {left:.1f} s more")
    assert took < left
    login.tell(sleep=False)
    ann.profile.until("contributing", STARTS_WITHIN)


def test_who_pauses_does_not_wait_for_the_state(ann: Volunteer, login: Login, asleep: int) -> None:
    login.tell(sleep=False)
    *_, half = ann.follow(is_on_its_way)
    began = time.monotonic()
    assert ann.profile.run("pause").returncode == 0
    ann.follow(lambda snapshot: snapshot.session is None and snapshot.state == "idle")
    took = time.monotonic() - began
    assert half.transfer
    left = (half.transfer.total - half.transfer.done) / CEILING
    print(f"{took:.1f} s, where the state would have taken {left:.1f} s more")
    assert took < left
    assert ann.profile.run("resume").returncode == 0
    ann.profile.until("contributing", STARTS_WITHIN)


def test_a_session_that_was_stopped_for_a_while_catches_up_before_it_counts_again(
    ann: Volunteer, ben: Volunteer
) -> None:
    """Every process of the session, as by somebody who looks for what makes the fan blow; the engine goes on."""
    trainer = psutil.Process(ann.profile.status()["session"]["pid"])
    processes = [trainer, *trainer.children(recursive=True)]
    assert len(processes) >= 5
    before = ann.epoch
    for process in processes:
        process.suspend()
    ben.goes_on(3)
    for process in processes:
        process.resume()
    reached = ben.epoch
    seen = ann.follow(lambda snapshot: snapshot.state == "contributing" and snapshot.progress.epoch >= reached)
    assert seen[-1].session is not None
    assert seen[-1].session.pid == trainer.pid
    ways = [snapshot.catching_up for snapshot in seen if snapshot.catching_up]
    assert ways
    assert ways[0].from_epoch <= before + 1 < ways[0].to_epoch
    ann.goes_on(2)
    for volunteer in (ann, ben):
        assert volunteer.profile.run("quit").returncode == 0
