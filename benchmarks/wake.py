"""How long a volunteer's computer is back before it gives again.

The practice project runs under a real engine, a trainer and the embedded backbone. A logind of this benchmark's own
(python-dbusmock on a private bus) tells of sleep; once the engine lets go, every process is stopped for a moment, as by
a computer that sleeps. Every other time nobody tells, and the processes are stopped for longer than the clocks' gap.
Measured are the seconds from waking until each stage begins, until the first samples are reported that an epoch then
counted, and until that epoch's end.

Run it with `.venv/bin/python -m benchmarks.wake [CYCLES]`; it needs Debian's python3-dbusmock.
"""

import os
import signal
import statistics
import sys
import time
from collections.abc import Callable

import psutil
from jeepney import DBusAddress, new_method_call

from benchmarks.practice import Practice, contributing
from core.api.protocol import Event
from core.api.snapshot import Snapshot
from core.client.engine_client import EngineClient
from core.conditions.sleep.watch import GAP
from tests.conditions.desktop.dbus_services import PrivateBus, Service

CYCLES = 20
ASLEEP = 3.0
LONGEST = 120.0
_LOGIND, _PATH = "org.freedesktop.login1", "/org/freedesktop/login1"
_MANAGER = f"{_LOGIND}.Manager"
_STAGES = ("starting", "joining", "syncing", "contributing")
_MARKS = (*_STAGES, "first samples", "counted")


def main() -> None:
    cycles = int(sys.argv[1]) if len(sys.argv) > 1 else CYCLES
    with PrivateBus() as bus:
        os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = bus.address
        login = bus.template(_LOGIND, _PATH, "logind")
        with contributing() as practice:
            results = [cycle(practice, bus, login, told=number % 2 == 0) for number in range(cycles)]
    for told, name in ((True, "told of sleep"), (False, "found by the clocks")):
        chosen = results[0 if told else 1 :: 2]
        print(f"{name}: {len(chosen)} cycles, seconds after waking")
        for mark in _MARKS:
            values = [result[mark] for result in chosen if mark in result]
            if values:
                print(f"  {mark:14} median {statistics.median(values):5.1f}  worst {max(values):5.1f}")


def cycle(practice: Practice, bus: PrivateBus, login: Service, *, told: bool) -> dict[str, float]:
    """Seconds from waking to each mark."""
    before = practice.until("contributing", peers=2)
    if told:
        until(lambda: inhibitors(bus))
        login.act("EmitSignal", "sssav", _MANAGER, "PrepareForSleep", "b", [("b", True)])
        until(lambda: not inhibitors(bus))
    processes = [psutil.Process(before.engine_pid), *practice.session()]
    stop(processes, signal.SIGSTOP)
    time.sleep(ASLEEP if told else GAP + ASLEEP)
    woke = time.monotonic()
    stop(processes, signal.SIGCONT)
    if told:
        login.act("EmitSignal", "sssav", _MANAGER, "PrepareForSleep", "b", [("b", False)])
    marks = follow(practice, before.session.started_at if before.session else 0.0, woke)
    print(f"{'told' if told else 'untold'}: " + ", ".join(f"{mark} {at:.1f}" for mark, at in marks.items()), flush=True)
    return marks


def follow(practice: Practice, old: float, woke: float) -> dict[str, float]:
    marks: dict[str, float] = {}
    with EngineClient.connect(practice.home) as watcher:
        for message in watcher.messages(0.1):
            now = time.monotonic() - woke
            if now > LONGEST:
                raise SystemExit(f"It did not come back: {practice.snapshot()}")
            if isinstance(message, Snapshot):
                note(marks, message, old, now)
            elif isinstance(message, Event) and "first samples" in marks and counts(message):
                marks["counted"] = now
                return marks
    raise SystemExit("The engine has ended.")


def counts(event: Event) -> bool:
    """Whether an epoch ended to which this volunteer gave."""
    return event.kind == "epoch_done" and event.message.params["samples"] != 0


def note(marks: dict[str, float], snapshot: Snapshot, old: float, now: float) -> None:
    is_new = snapshot.session is not None and snapshot.session.started_at != old
    if snapshot.state == "starting" or is_new:
        marks.setdefault(snapshot.state, now)
    if is_new and snapshot.progress.samples:
        marks.setdefault("first samples", now)


def stop(processes: list[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        if process.is_running():
            process.send_signal(number)


def inhibitors(bus: PrivateBus) -> bool:
    return bool(bus.ask(new_method_call(DBusAddress(_PATH, _LOGIND, _MANAGER), "ListInhibitors"))[0])


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30.0
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("The engine did not answer to logind in time.")
        time.sleep(0.02)


if __name__ == "__main__":
    main()
