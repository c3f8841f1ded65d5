"""What a hostile peer does to a run: epochs per minute before and under each attack, the loss, and the memory.

Usage: python -m benchmarks.attacks SECONDS [ATTACK ...]

The small run of `tests.network.peers.churn_peer` on loopback: a backbone, two volunteers who rest instead of computing,
and an attacker, all of them real peers. When both volunteers have made two updates, the attacks follow each other. For
each (all of them), epochs are counted for half of SECONDS without an attack, and then for SECONDS under it. `none` is
no attack: its second figure shows how far the machine's other work alone changes the first one. Printed are epochs per
minute without and with the attack, the volunteers' loss on new samples before and after, the memory of the backbone's
processes and of the larger volunteer's before and after (proportional set size), rounds that failed, and the load.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from benchmarks.attacker import FLOODS, REPORTS
from tests.network.peers.churn_peer import AUXILIARY
from tests.swarm.averaging.peers.small_peer import Peer
from tests.waiting import wait_for

_DONOR, _NOT_FINITE = "donor ahead", "not finite"
ATTACKS = ["none", *REPORTS, _NOT_FINITE, _DONOR, *FLOODS]
_PAUSE, _MIB = 0.05, 1 << 20


@dataclass(frozen=True)
class Seen:
    """The run at a moment."""

    at: float
    epoch: int
    loss: float
    memory: tuple[int, int]
    """MiB of the backbone, and of the larger volunteer."""
    failures: int


class Line:
    """A backbone and two volunteers."""

    def __init__(self, opened: ExitStack) -> None:
        self._opened = opened
        self.folder = Path(tempfile.mkdtemp(prefix="hive"))
        opened.callback(shutil.rmtree, self.folder)
        self.backbone = self.peer("backbone", AUXILIARY)
        self._volunteers = [self.peer(name, _PAUSE, self.backbone.address) for name in ("ann", "ben")]
        for volunteer in self._volunteers:
            volunteer.until(2)

    def peer(self, name: str, pause: float, contact: str = "", hostile_when: Path | None = None) -> Peer:
        peer = Peer(self.folder, name, pause, contact, listens=True, hostile_when=hostile_when)
        self._opened.callback(peer.leave)
        return peer

    def after(self, seconds: float) -> tuple[Seen, float]:
        """The run then, and the epochs a minute that it has made until then."""
        before = self._seen()
        time.sleep(seconds)  # the time that is measured
        after = self._seen()
        return after, 60 * (after.epoch - before.epoch) / (after.at - before.at)

    def _seen(self) -> Seen:
        memory = _memory(self.backbone), max(map(_memory, self._volunteers))
        failures = sum(len(volunteer.those_with("failure")) for volunteer in self._volunteers)
        newest = [volunteer.updates[max(volunteer.updates)] for volunteer in self._volunteers]
        loss = max(update["loss"] or 0.0 for update in newest)
        return Seen(time.monotonic(), max(update["epoch"] for update in newest), loss, memory, failures)


def _memory(peer: Peer) -> int:
    total = 0
    for process in psutil.Process(peer._process.pid).children(recursive=True):
        try:
            total += process.memory_full_info().pss
        except psutil.Error:
            continue  # it has ended meanwhile
    return total // _MIB


@contextmanager
def prepared(attack: str, line: Line) -> Iterator[Callable[[], None]]:
    """Call it to begin the attack, which ends with the block."""
    with ExitStack() as opened:
        if attack == _NOT_FINITE:
            when = line.folder / "attack"
            line.peer("mallory", _PAUSE, line.backbone.address, when).until(2)
            opened.callback(when.unlink)
            yield when.touch
        elif attack == "none":
            yield lambda: None
        else:
            yield partial(_start, attack, line, opened)


def _start(attack: str, line: Line, opened: ExitStack) -> None:
    folder = Path(tempfile.mkdtemp(dir=line.folder))
    place = [str(folder), line.backbone.address]
    script = ["tests.swarm.hostile_donor", *place, "1"] if attack == _DONOR else ["benchmarks.attacker", *place, attack]
    subreaper = [sys.executable, "-m", "core.system.subreaper", str(folder / "subreaper"), "--"]
    process = subprocess.Popen(
        [*subreaper, sys.executable, "-m", *script],
        stdin=subprocess.PIPE,
        stdout=opened.enter_context((folder / "out").open("wb")),
        stderr=opened.enter_context((folder / "log").open("wb")),
    )
    opened.callback(process.communicate, timeout=60)
    wait_for((folder / "out").read_bytes, 60.0, "it attacks")


def measure(attack: str, line: Line, seconds: float) -> dict[str, Any]:
    with prepared(attack, line) as attack_now:
        before, usual = line.after(seconds / 2)
        attack_now()
        after, attacked = line.after(seconds)
    return {
        "attack": attack,
        "epochs_per_minute": [round(usual, 1), round(attacked, 1)],
        "epochs": [before.epoch, after.epoch],
        "loss": [round(before.loss, 5), round(after.loss, 5)],
        "mib_backbone": [before.memory[0], after.memory[0]],
        "mib_volunteer": [before.memory[1], after.memory[1]],
        "failed_rounds": after.failures - before.failures,
        "load": round(os.getloadavg()[0], 1),
    }


def main(seconds: float, attacks: list[str]) -> None:
    with ExitStack() as opened:
        line = Line(opened)
        for attack in attacks:
            print(json.dumps(measure(attack, line, seconds)), flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:] or ATTACKS)
