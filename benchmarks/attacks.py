"""What hostile peers do to a run: epochs per minute, loss and memory, beside the same run without an attack.

Usage: python -m benchmarks.attacks SECONDS [ATTACK ...] [--at-once N] [--pause SECONDS]

A line-up is the small run of `tests.network.peers.churn_peer` on loopback: a backbone, and two volunteers who rest
--pause seconds after each microbatch. N of them (one) are attacked, each in its own way, and one is left alone; all
run at the same time on the same machine, so that what else it does slows all of them. When all have made two updates,
the attacks begin. Where the attacker is a member of the rounds, it is a third volunteer, honest until then. After
SECONDS the next N attacks (of all) follow, in new line-ups. `none` is no attack: how far two line-ups that are alike
differ. A line of JSON for each has, first without and then with
the attack:

- the epochs made in SECONDS, and the ratio of the two;
- the loss on points that nobody has seen, mean of the volunteers over their last five updates;
- the peak of each peer's memory (proportional set size of its processes, MiB): backbone, and larger volunteer;
- rounds that failed, and peers that the honest ones left out, by reason, once for each time and peer that did so;
- samples that the backbone credits to the volunteers, as a share of those in updates, and to everybody else;
- the load of the machine at the end.
"""

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import mean
from typing import Any

import psutil

from benchmarks.attacker import FLOODS, KEYS, REPORTS
from core.swarm.dht.peer import LOOPBACK
from tests.network.peers.churn_peer import AUXILIARY
from tests.network.peers.hostile_member import MEMBERS
from tests.swarm.averaging.peers.small_peer import Peer, Process
from tests.waiting import wait_for

_DONOR = "donor ahead"
_NONE = "none"
ATTACKS = [_NONE, *REPORTS, *MEMBERS, _DONOR, *KEYS, *FLOODS]
_LOOK, _MIB = 5.0, 1 << 20
_LAST = 5
"""Updates whose loss counts."""
_PATIENCE = 400.0
"""Seconds until a line-up has made two updates: several begin at once."""


class Line:
    """A backbone and two volunteers, and who attacks them."""

    def __init__(self, opened: ExitStack, attack: str, pause: float) -> None:
        self._opened, self.attack, self._pause = opened, attack, pause
        self.folder = Path(tempfile.mkdtemp(prefix="hive"))
        opened.callback(shutil.rmtree, self.folder)
        self._when = self.folder / "attack"
        self.backbone = self._peer("backbone", AUXILIARY)
        self._peak = [0, 0]

    def join(self) -> None:
        """All but the backbone, which has begun to start."""
        attack, pause, contact = self.attack, self._pause, self.backbone.address
        self._volunteers = [self._peer(name, pause, contact) for name in ("ann", "ben")]
        self._joined: list[Process] = list(self._volunteers)
        if attack in MEMBERS:
            given = [str(self._when), attack, str(self.folder), "mallory", LOOPBACK, str(pause), contact]
            mallory = Process(self.folder, "mallory", "tests.network.peers.hostile_member", given)
            self._opened.callback(mallory.leave)
            self._joined.append(mallory)

    def _peer(self, name: str, pause: float, contact: str = "") -> Peer:
        peer = Peer(self.folder, name, pause, contact, listens=True)
        self._opened.callback(peer.leave)
        return peer

    def has_begun(self) -> bool:
        return all(max(peer.updates, default=0) >= 2 for peer in self._joined)

    def begin(self) -> None:
        """The attack, if there is one, and what is counted."""
        if self.attack in MEMBERS:
            self._when.touch()
        elif self.attack != _NONE:
            self._start(self.attack)
        self._first = self.epoch

    def _start(self, attack: str) -> None:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        place = [str(folder), self.backbone.address]
        is_donor = attack == _DONOR
        script = ["tests.swarm.hostile_donor", *place, "1"] if is_donor else ["benchmarks.attacker", *place, attack]
        subreaper = [sys.executable, "-m", "core.system.subreaper", str(folder / "subreaper"), "--"]
        process = subprocess.Popen(
            [*subreaper, sys.executable, "-m", *script],
            stdin=subprocess.PIPE,
            stdout=self._opened.enter_context((folder / "out").open("wb")),
            stderr=self._opened.enter_context((folder / "log").open("wb")),
        )
        self._opened.callback(process.communicate, timeout=60)
        wait_for((folder / "out").read_bytes, 120.0, "it attacks", every=0.2)

    @property
    def epoch(self) -> int:
        return max(max(volunteer.updates) for volunteer in self._volunteers)

    def look(self) -> None:
        """At the memory."""
        now = _memory(self.backbone), max(map(_memory, self._volunteers))
        self._peak = [max(pair) for pair in zip(self._peak, now, strict=True)]

    def found(self) -> dict[str, Any]:
        made = [volunteer.updates for volunteer in self._volunteers]
        losses = [made_by[epoch]["loss"] for made_by in made for epoch in sorted(made_by)[-_LAST:]]
        credited, others = self._credit()
        samples = sum(update["samples"] for peer in self._joined for update in peer.updates.values())
        return {
            "epochs": self.epoch - self._first,
            "loss": round(mean(loss for loss in losses if loss is not None), 5),
            "mib_peak": self._peak,
            "failed_rounds": sum(len(volunteer.those_with("failure")) for volunteer in self._volunteers),
            "left_out": self._left_out(),
            "credited": [round(credited / samples, 3), others],
        }

    def _left_out(self) -> dict[str, int]:
        honest = [self.backbone, *self._volunteers]
        own = {peer.address.rpartition("/")[2] for peer in honest}
        drops = [drop for peer in honest for drop in peer.those_with("dropped")]
        return dict(Counter("honest: " * (drop["dropped"] in own) + drop["offence"] for drop in drops))

    def _credit(self) -> tuple[int, int]:
        """Samples of those who were in updates, and of all others."""
        with closing(sqlite3.connect(self.folder / "contributions-churn.sqlite")) as books:
            totals: list[int] = [samples for (samples,) in books.execute("SELECT samples FROM volunteer")]
        totals.sort(reverse=True)
        return sum(totals[: len(self._joined)]), sum(totals[len(self._joined) :])


def _memory(peer: Peer) -> int:
    total = 0
    for process in psutil.Process(peer._process.pid).children(recursive=True):
        try:
            total += process.memory_full_info().pss
        except psutil.Error:
            continue  # it has ended meanwhile
    return total // _MIB


def measure(attacks: Sequence[str], seconds: float, pause: float) -> None:
    """Prints what each of them does."""
    with ExitStack() as opened:
        lines = [Line(opened, attack, pause) for attack in (_NONE, *attacks)]
        for line in lines:
            line.join()
        wait_for(lambda: all(line.has_begun() for line in lines), _PATIENCE, "two updates", every=0.5)
        for line in lines:
            line.begin()
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _LOOK))  # the time that is measured
            for line in lines:
                line.look()
        alone, *attacked = [line.found() for line in lines]
        load = round(os.getloadavg()[0], 1)
        for attack, found in zip(attacks, attacked, strict=True):
            ratio = round(found["epochs"] / max(1, alone["epochs"]), 2)
            both = {key: [alone[key], found[key]] for key in found}
            print(json.dumps({"attack": attack, "ratio": ratio, **both, "load": load}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=float)
    parser.add_argument("attacks", nargs="*", metavar="ATTACK", choices=[*ATTACKS, []], default=ATTACKS)
    parser.add_argument("--at-once", type=int, default=1, metavar="N")
    parser.add_argument("--pause", type=float, default=0.05)
    chosen = parser.parse_args()
    left = list(chosen.attacks)
    while left:
        measure(left[: chosen.at_once], chosen.seconds, chosen.pause)
        del left[: chosen.at_once]


if __name__ == "__main__":
    main()
