"""What the program costs while nothing is contributed: `python -m benchmarks.footprint [--starts 10]`.

Prints the memory of engine and window (proportional set size: shared pages count by their share) and the time from the
command to the first picture of the window under Xvfb, the engine's own start not included. Linux, with Xvfb.
"""

import argparse
import re
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.end_to_end.machine import Machine, Participant, Program, wait_for

SETTLES = 3.0
"""Seconds without work after which a process counts as idle."""
_SHOWN = re.compile(r"window shown after ([\d.]+) s")


def memory(pid: int) -> float:
    """Proportional set size in MiB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


@contextmanager
def screen(machine: Machine) -> Iterator[str]:
    """A display of its own, as the value of DISPLAY; Xvfb picks a number that is free."""
    with (machine.folder / "xvfb.log").open("wb") as log:
        command = ["Xvfb", "-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
    try:
        number = server.stdout.readline() if server.stdout else b""
        yield f":{int(number)}"
    finally:
        server.terminate()
        server.communicate()


def open_window(volunteer: Participant, display: str, **environment: str) -> tuple[Program, float]:
    """The app, and the seconds from its start to its first picture."""
    # Without a bus the D-Bus library would start one by itself, and leave it.
    bus = "disabled:"
    surroundings = {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "DBUS_SESSION_BUS_ADDRESS": bus, **environment}
    program = volunteer.start(**surroundings, IDLEHIVE_TIMING=f"{time.time()}")

    shown = wait_for(lambda: _SHOWN.findall(program.complained()), 30.0, "the window is shown")
    return program, float(shown[0])


def close_window(program: Program, volunteer: Participant) -> None:
    program.process.terminate()
    program.end()
    volunteer.run("quit")


def idle_engine(volunteer: Participant) -> int:
    """Its process, once it has nothing to do any more."""
    volunteer.run("resume")
    time.sleep(SETTLES)
    pid: int = volunteer.status()["engine_pid"]
    return pid


def measure(starts: int) -> None:
    machine = Machine()
    volunteer = machine.profile("ann")
    try:
        print(f"engine, idle: {memory(idle_engine(volunteer)):.1f} MiB")
        volunteer.run("quit")
        with screen(machine) as display:
            times = []
            for _ in range(starts):
                program, seconds = open_window(volunteer, display)
                times.append(seconds)
                if len(times) == starts:
                    time.sleep(SETTLES)
                    print(f"window, idle: {memory(program.process.pid):.1f} MiB")
                close_window(program, volunteer)
        print(f"window shown after: median {statistics.median(times):.2f} s, longest {max(times):.2f} s of {starts}")
    finally:
        machine.clean_up()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=10, help="of the window (default: %(default)s)")
    measure(parser.parse_args().starts)
