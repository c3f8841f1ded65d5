"""How long a round of averaging takes between home lines, against the least that is physically possible.

Each peer is on a host of its own (a network namespace) whose line is shaped to UP/DOWN Mbit/s; one without DOWN only
calls others, and one that begins with `+` reduces for the others without samples. They average a vector of the given
number of parameters, sent as float16. Prints the seconds from the moment in which all members of the group know of each
other until the last one has the average, for each round, and V/b of the slowest line: nobody can send and receive the
vector sooner.

Needs root. Run it with `.venv/bin/python -m benchmarks.rounds PARAMETERS LINE LINE ...`, a line being `[+]UP/DOWN` or
`-UP/DOWN` for one that cannot be called, for example `9000000 200/200 100/100 50/50 50/50`.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import torch
from hivemind.averaging.control import AveragingStage
from hivemind.compression import Float16Compression

from core.api.project.manifest import Averaging
from core.swarm.averaging.averagers import EpochGradientAverager
from core.swarm.averaging.bandwidth import part_size, part_timeout
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.patches import install
from core.swarm.traffic.link import Link
from tests.network.namespaces import INTERFACE, Host, hosts

ROUNDS = 4
"""The first one opens the connections."""
_AVERAGING = Averaging("float16", matchmaking_time=10.0, averaging_timeout=120.0)
_BYTES_PER_MBIT = 125_000


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
            qdisc = ["tc", "-n", namespace, "qdisc", "add", "dev", interface, "root"]
            subprocess.run([*qdisc, "tbf", "rate", f"{rate}mbit", "burst", "64kb", "latency", "100ms"], check=True)


def main(parameters: int, lines: list[Line]) -> None:
    folder = Path(tempfile.mkdtemp(prefix="hive"))
    with ExitStack() as opened:
        opened.callback(shutil.rmtree, folder)
        # The first one is there to be called by all, and has a line of its own.
        meeting, *places = opened.enter_context(hosts(1 + len(lines)))
        contact = _start(opened, meeting, folder, "meeting")
        address = json.loads(contact.stdout.readline())["address"]  # type: ignore[union-attr]
        peers = []
        for number, (line, host) in enumerate(zip(lines, places, strict=True)):
            line.shape(host)
            task = {"parameters": parameters, "line": vars(line), "contact": address, "host": host.address}
            task["others"] = len(lines) - 1
            peers.append(_start(opened, host, folder, f"peer{number}", json.dumps(task)))
        slowest = min(line.bandwidth for line in lines if line.adds_samples)
        print(f"{2 * parameters / 1e6:.1f} MB; at least {2 * parameters / slowest:.2f} s")
        for _round in range(ROUNDS):
            seen = [json.loads(peer.stdout.readline()) for peer in peers]  # type: ignore[union-attr]
            seconds = max(entry["done"] for entry in seen) - max(entry["began"] for entry in seen)
            print(f"group of {seen[0]['group']}: {seconds:.2f} s")


def _start(opened: ExitStack, host: Host, folder: Path, name: str, *task: str) -> "subprocess.Popen[str]":
    command = host.command(sys.executable, "-m", "benchmarks.rounds", "--peer", str(folder / name), host.address, *task)
    log = opened.enter_context((folder / f"{name}.log").open("w"))
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
    opened.callback(process.communicate, timeout=60)
    return process


def peer(folder: str, address: str, *task: str) -> None:
    """One of the peers, until its standard input ends."""
    torch.set_num_threads(1)
    place = Path(folder)
    place.mkdir()
    install(place, Link())
    listen = f"/ip4/{address}/tcp/31001"
    if not task:
        dht = join_swarm([], place / "key", listen)
        print(json.dumps({"address": own_addresses(dht)[0]}), flush=True)
        sys.stdin.read()
        dht.shutdown()
    else:
        described = json.loads(task[0])
        _average(place, listen, Line(**described["line"]), described)
    os._exit(0)


def _average(place: Path, listen: str, line: Line, described: dict[str, object]) -> None:
    size = int(str(described["parameters"]))
    dht = join_swarm([str(described["contact"])], place / "key", listen if line.can_be_called else None)
    parameter = torch.nn.Parameter(torch.zeros(size))
    parameter.grad = torch.randn(size)
    epoch = 0
    averager = EpochGradientAverager(
        epoch=lambda: epoch,
        adds_samples=line.adds_samples,
        parameters=[parameter],
        dht=dht,
        prefix="run",
        expected_peers=lambda: {str(number).encode(): 0.0 for number in range(int(str(described["others"])))},
        bandwidth=line.bandwidth,
        part_size_bytes=part_size(size, _AVERAGING),
        compression=Float16Compression(),
        min_matchmaking_time=_AVERAGING.matchmaking_time,
        request_timeout=5.0,
        allreduce_timeout=_AVERAGING.averaging_timeout,
        next_chunk_timeout=part_timeout(_AVERAGING),
        client_mode=dht.client_mode,
        start=True,
    )
    averager.accumulate_grads_(1)
    for epoch in range(ROUNDS):  # noqa: B007 - the averager reads it
        averager.load_accumulators_into_averager_()
        control = averager.schedule_step(timeout=300.0)
        control.weight = float(line.adds_samples)
        while control.stage in (AveragingStage.IDLE, AveragingStage.LOOKING_FOR_GROUP):
            time.sleep(0.002)
        began = time.monotonic()
        control.allow_allreduce()
        group = len(control.result())
        print(json.dumps({"began": began, "done": time.monotonic(), "group": group}), flush=True)
    sys.stdin.read()
    # Processes that are left would keep the pipe open that the benchmark reads.
    averager.shutdown()
    dht.shutdown()


if __name__ == "__main__":
    if sys.argv[1] == "--peer":
        peer(*sys.argv[2:])
    else:
        main(int(sys.argv[1]), [Line.parse(text) for text in sys.argv[2:]])
