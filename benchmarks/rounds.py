"""How long a round of averaging takes between home lines, against the least that is possible, here and with hivemind.

Each peer is on a host of its own (a network namespace) whose line is shaped to UP/DOWN Mbit/s; one that begins with `-`
only calls others, and one that begins with `+` reduces for the others without samples. They average a vector of the
given number of parameters, sent as float16. This product's peers, which learn their bandwidth from the rounds, with
CenteredClip and with the mean, and those of hivemind as it is, which are told it, take turns on the same lines.

A round is counted from the moment in which all members of the group know of each other until the last one has the
average. The least time is that of DeDLOC's linear program: the line that has most to carry carries it at its full rate,
headers not counted. "Group" is the time from the request of all peers for a group until all have found it. Processor
time and bytes are those of all members for a round with its audits.

Frames are segmented after the line is shaped, as network cards do, so that two processors suffice for several peers;
the lines are charged for every header all the same. TCP's congestion control is cubic, as on most computers.

Needs root. Run it with `.venv/bin/python -m benchmarks.rounds PARAMETERS ROUNDS [KINDS] LINE LINE ...`, a line being
`[+-]UP/DOWN`, for example `9000000 5 200/200 100/100 50/50 50/50`. KINDS are `product,mean,plain`, or some of them
where memory does not suffice for all.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import psutil

from benchmarks.peer_processes import Peer, PeerProcesses
from benchmarks.round_peer import MEAN, PLAIN, PRODUCT
from core.swarm.all_reduce import line_worth
from core.swarm.all_reduce.line_worth import least_time
from tests.network.namespaces import INTERFACE, Host, hosts

_BYTES_PER_MBIT = 125_000
_PORTS = {PRODUCT: 31001, MEAN: 31002, PLAIN: 31003}
_BEFORE_AUDIT = 1.5
"""Seconds until an audit has begun."""
_REST, _RESTING = 0.5, 0.2
"""Seconds for which peers are watched, and the share of one processor below which they rest."""
_FRAMES = 32_000
"""Bytes that are segmented at once; the shaper takes no more than its burst."""


@dataclass(frozen=True)
class Line:
    up: float
    down: float
    can_be_called: bool
    adds_samples: bool

    @classmethod
    def parse(cls, text: str) -> "Line":
        up, down = (float(part) for part in text.lstrip("+-").split("/"))
        return cls(up, down, not text.startswith("-"), not text.startswith("+"))

    @property
    def bandwidth(self) -> float:
        """Bytes per second in the slower direction."""
        return min(self.up, self.down) * _BYTES_PER_MBIT

    def shape(self, host: Host) -> None:
        for namespace, interface, rate in (
            (host.namespace, INTERFACE, self.up),
            (host.switch, host.port, self.down),
        ):
            frames = ["gso_max_size", str(_FRAMES), "gso_max_segs", "64"]
            subprocess.run(["ip", "-n", namespace, "link", "set", interface, *frames], check=True)
            qdisc = ["tc", "-n", namespace, "qdisc", "add", "dev", interface, "root"]
            subprocess.run([*qdisc, "tbf", "rate", f"{rate}mbit", "burst", "64kb", "latency", "100ms"], check=True)


class Swarm:
    """The peers of one kind, on all hosts."""

    def __init__(self, opened: ExitStack, kind: str, parameters: int, lines: list[Line], places: list[Host]) -> None:
        self._kind, self._processes = kind, PeerProcesses(opened)
        meeting, *homes = places
        # The first one is there to be called by all, and has a line of its own.
        contact = self._start(meeting, {"contacts": [], "group": 0}, listens=True)
        task = {"parameters": parameters, "group": len(lines), "contacts": self._processes.read(contact)["address"]}
        self._peers = [
            self._start(
                home,
                {**task, "bandwidth": line.bandwidth, "adds_samples": line.adds_samples},
                listens=line.can_be_called,
            )
            for line, home in zip(lines, homes, strict=True)
        ]
        self._homes = homes
        for peer in self._peers:
            self._processes.read(peer)

    def round(self) -> tuple[float, float] | None:
        """Seconds until all have found their group, and from then on until all have the average; None if some do not
        get it: on a computer that is busy, members fall silent for longer than the others wait."""
        asked = time.monotonic()
        for peer in self._peers:
            print(file=peer.stdin, flush=True)
        ended = [self._processes.read(peer) for peer in self._peers]
        if failures := {end["failure"] for end in ended if "failure" in end}:
            print(f"{self._kind}: a round failed:", "; ".join(sorted(failures)), flush=True)
            return None
        if {end["group"] for end in ended} != {len(self._peers)}:
            sys.exit(f"not all were in one group: {ended}")
        self.bandwidths = [float(end["bandwidth"]) for end in ended]
        found = max(end["found"] for end in ended)
        return found - asked, max(end["done"] for end in ended) - found

    def rest(self) -> None:
        """Wait until the round's audits have ended, which would take the processors of the next round."""
        processes = self._all_processes()
        time.sleep(_BEFORE_AUDIT)
        while True:
            before = _worked(processes)
            time.sleep(_REST)
            if _worked(processes) - before < _RESTING * _REST:
                return

    def costs(self) -> tuple[float, float]:
        """Seconds of a processor, and MB on all lines, until now."""
        sent = 0
        for home in self._homes:
            shown = subprocess.run(
                ["ip", "-n", home.namespace, "-s", "-j", "link", "show", INTERFACE], check=True, capture_output=True
            )
            sent += json.loads(shown.stdout)[0]["stats64"]["tx"]["bytes"]
        return _worked(self._all_processes()), sent / 1e6

    def _all_processes(self) -> list[psutil.Process]:
        return [process for peer in self._peers for process in psutil.Process(peer.pid).children(recursive=True)]

    def _start(self, host: Host, task: dict[str, Any], *, listens: bool) -> Peer:
        listen = f"/ip4/{host.address}/tcp/{_PORTS[self._kind]}" if listens else ""
        return self._processes.start(host, "benchmarks.round_peer", self._kind, listen, task=task)


def _worked(processes: list[psutil.Process]) -> float:
    """Seconds of a processor."""
    times = [process.cpu_times() for process in processes]
    return sum(time.user + time.system for time in times)


@contextmanager
def homes(lines: list[Line]) -> Iterator[list[Host]]:
    """A host for each line, after one that has a line of its own."""
    with hosts(1 + len(lines)) as places:
        for place in places:
            route = ["ip", "-n", place.namespace, "route", "replace", "10.77.0.0/24", "dev", INTERFACE]
            subprocess.run([*route, "src", place.address, "congctl", "cubic"], check=True)
        for line, place in zip(lines, places[1:], strict=True):
            line.shape(place)
        yield places


def main(parameters: int, rounds: int, kinds: list[str], lines: list[Line]) -> None:
    with ExitStack() as opened:
        places = opened.enter_context(homes(lines))
        swarms = {kind: Swarm(opened, kind, parameters, lines, places) for kind in kinds}
        least = least_time(2 * parameters, [line_worth.Line(line.bandwidth, line.can_be_called) for line in lines])
        print(f"{2 * parameters / 1e6:.1f} MB; at least {least:.2f} s")
        for kind, swarm in swarms.items():
            # It opens the connections, and nobody has learned a bandwidth yet.
            if (first := swarm.round()) is not None:
                print(f"{kind}: first round {first[1]:.2f} s", flush=True)
            swarm.rest()
        ended: dict[str, list[tuple[float, float, float, float]]] = {kind: [] for kind in kinds}
        for _round in range(rounds):
            for kind, swarm in swarms.items():
                before = swarm.costs()
                times = swarm.round()
                swarm.rest()
                costs = swarm.costs()
                if times is not None:
                    ended[kind].append((*times, costs[0] - before[0], costs[1] - before[1]))
        for kind, measured in ended.items():
            if not measured:
                continue
            found, took, worked, sent = zip(*measured, strict=True)
            best, median = min(took), statistics.median(took)
            print(
                f"{kind}: best {best:.2f} s, median {median:.2f} s, of the least {best / least:.2f} and"
                f" {median / least:.2f}; group: median {statistics.median(found):.2f} s, longest {max(found):.2f} s;"
                f" processor: median {statistics.median(worked):.2f} s; {statistics.median(sent):.2f} MB;"
                f" {len(measured)} of {rounds} rounds"
            )


if __name__ == "__main__":
    given = sys.argv[3:]
    chosen = list(_PORTS) if "/" in given[0] else given.pop(0).split(",")
    main(int(sys.argv[1]), int(sys.argv[2]), chosen, [Line.parse(text) for text in given])
