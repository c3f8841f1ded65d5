"""A small run on hosts of their own, whose peers come and go."""

import contextlib
import itertools
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from core.system.orphans import TAG
from tests.network.namespaces import Host, hosts
from tests.network.peers.peer_process import start_peer

PORT = 31000
PAUSES = (0.1, 0.15, 0.25, 0.5)
"""Seconds after each microbatch: four peers of different speeds."""
_KINDS = ("leave", "kill", "stop", "cut off")


@dataclass
class Volunteer:
    """A peer that is started again whenever its process has ended, as an engine does."""

    host: Host
    folder: Path
    name: str
    pause: float
    contact: list[str]
    events: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    away: bool = False
    over: bool = False
    process: "subprocess.Popen[str] | None" = None

    def begin(self) -> None:
        listen = f"/ip4/{self.host.address}/tcp/{PORT}"
        arguments = [listen, str(self.pause), *self.contact]
        self.process = start_peer("churn_peer", self.host, self.folder, self.name, *arguments)
        threading.Thread(target=self._listen, args=(self.process,), daemon=True).start()

    def _listen(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        for line in process.stdout:
            with contextlib.suppress(ValueError):
                self.events.append((time.monotonic(), json.loads(line)))
        process.wait()
        if not self.over and self.pause >= 0:
            self.begin()

    @property
    def epochs(self) -> list[tuple[float, dict[str, Any]]]:
        return [(at, event) for at, event in list(self.events) if "epoch" in event]

    def family(self) -> list[psutil.Process]:
        assert self.process is not None
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(self.process.pid).children(recursive=True)
        return []

    def leave(self) -> None:
        assert self.process is not None
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def kill(self) -> None:
        assert self.process is not None
        with contextlib.suppress(psutil.NoSuchProcess, IndexError):
            psutil.Process(self.process.pid).children()[0].kill()

    def signal(self, number: signal.Signals) -> None:
        for process in self.family():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def end(self) -> None:
        self.over = True
        self.leave()
        if self.process is not None:
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.terminate()
                self.process.wait(20)


class Run:
    def __init__(self, volunteers: list[Volunteer], folder: Path, seed: int, seen: set[int]) -> None:
        self.volunteers, self.folder = volunteers, folder
        self._seen = seen
        """Processes of the run."""
        self._chance = random.Random(seed)
        self._pack: list[str] = []
        self.disturbed: list[str] = []

    def reach(self, epoch: int, seconds: float) -> None:
        """Wait until somebody has seen that epoch."""
        deadline = time.monotonic() + seconds
        while max((event["epoch"] for v in self.volunteers for _, event in v.epochs), default=0) < epoch:
            assert time.monotonic() < deadline, f"epoch {epoch} was not reached in {seconds:g} s"
            time.sleep(0.2)

    def disturb(self, seconds: float, every: float, away: tuple[float, float]) -> None:
        """Two of the four at most are away at a time; every kind comes at least once."""
        end, threads = time.monotonic() + seconds, list[threading.Thread]()
        while time.monotonic() < end or len(self.disturbed) < len(_KINDS):
            self._seen |= {process.pid for volunteer in self.volunteers for process in volunteer.family()}
            present = [volunteer for volunteer in self.volunteers if not volunteer.away]
            if len(present) > 2:
                victim, kind = self._chance.choice(present), self._next_kind()
                victim.away = True
                self.disturbed.append(kind)
                threads.append(threading.Thread(target=self._harm, args=(victim, kind, self._chance.uniform(*away))))
                threads[-1].start()
            time.sleep(every)  # the pace of the disturbances
        for thread in threads:
            thread.join()

    def _next_kind(self) -> str:
        """From a shuffled pack, so that all come equally often."""
        if not self._pack:
            self._pack = self._chance.sample(_KINDS, len(_KINDS))
        return self._pack.pop()

    def _harm(self, victim: Volunteer, kind: str, seconds: float) -> None:
        seen = len(victim.epochs)
        if kind == "leave":
            victim.leave()
        elif kind == "kill":
            victim.kill()
        elif kind == "stop":
            victim.signal(signal.SIGSTOP)
            time.sleep(seconds)
            victim.signal(signal.SIGCONT)
        else:
            victim.host.line("down")
            time.sleep(seconds)
            victim.host.line("up")
        # Somebody who has not yet come back is not harmed again.
        deadline = time.monotonic() + 60
        while len(victim.epochs) <= seen and time.monotonic() < deadline:
            time.sleep(0.2)
        victim.away = False

    def agreed(self, seconds: float) -> tuple[int, str]:
        """An epoch from now on after which all hold the same parameters, and their digest."""
        since, deadline = time.monotonic(), time.monotonic() + seconds
        while True:
            tables = [{t["epoch"]: t["digest"] for at, t in v.epochs if at > since} for v in self.volunteers]
            for epoch in sorted(set.intersection(*(set(table) for table in tables)), reverse=True):
                if len(found := {table[epoch] for table in tables}) == 1:
                    return epoch, found.pop()
            assert time.monotonic() < deadline, f"no agreement: {tables}"
            time.sleep(0.2)

    def gaps(self) -> list[float]:
        """Seconds between two updates of the run, whoever made them."""
        return [later - earlier for earlier, later in itertools.pairwise(self._updates().values())]

    def _updates(self) -> dict[int, float]:
        """When the run reached each epoch, whoever was the first."""
        reached: dict[int, float] = {}
        for at, event in sorted((entry for v in self.volunteers for entry in v.epochs), key=lambda entry: entry[0]):
            if event["epoch"] > max(reached, default=0):
                reached[event["epoch"]] = at
        return reached

    def rounds(self) -> list[float]:
        """Seconds from a full batch to its update; for those who made it, as whoever was away saw other batches."""
        lasted, reached = list[float](), self._updates()
        for epoch, at in reached.items():
            makers = [v for v in self.volunteers if any(event["epoch"] == epoch for _, event in v.epochs)]
            full = [since for v in makers for since, event in list(v.events) if event.get("full") == epoch - 1]
            lasted += [at - min(full)] if full else []
        return lasted

    def idle(self) -> list[float]:
        """Seconds in which nobody added a sample to the run's epoch, nor was any update made."""
        now, moments = 0, list[float]()
        entries = (entry for v in self.volunteers for entry in list(v.events) if entry[1].keys() & {"adds", "epoch"})
        for at, event in sorted(entries, key=lambda entry: entry[0]):
            if event.get("epoch", 0) > now or event.get("adds", -1) >= now:
                now = max(now, event.get("epoch", 0))
                moments.append(at)
        return [later - earlier for earlier, later in itertools.pairwise(moments)]

    def losses(self) -> dict[int, float]:
        """Mean training loss by epoch."""
        events = [e for v in self.volunteers for _, e in v.epochs if e["loss"] is not None and e["samples"]]
        epochs = {event["epoch"] for event in events}
        return {epoch: statistics.fmean(e["loss"] for e in events if e["epoch"] == epoch) for epoch in sorted(epochs)}

    def forks(self) -> list[int]:
        """Epochs that peers began with different updates."""
        updates: dict[int, set[str]] = {}
        for volunteer in self.volunteers:
            for _at, event in volunteer.epochs:
                updates.setdefault(event["epoch"], set()).add(event["update"])
        return sorted(epoch for epoch, digests in updates.items() if len(digests) > 1)

    def rounds_failed(self) -> int:
        return sum("failure" in event for v in self.volunteers for _, event in list(v.events))


@contextmanager
def run(seed: int) -> Iterator[Run]:
    """First contact and four peers; afterwards nothing of them is left."""
    folder = Path(tempfile.mkdtemp(prefix="hive", dir="/tmp"))
    seen: set[int] = set()
    try:
        with hosts(1 + len(PAUSES)) as machines, ExitStack() as opened:
            contact = Volunteer(machines[0], folder, "contact", -1.0, [])
            opened.callback(contact.end)
            contact.begin()
            deadline = time.monotonic() + 60
            while not contact.events:
                assert time.monotonic() < deadline, (folder / "contact.log").read_text()
                time.sleep(0.1)
            address = contact.events[0][1]["address"]
            volunteers = [
                Volunteer(host, folder, f"peer{number}", pause, [address])
                for number, (host, pause) in enumerate(zip(machines[1:], PAUSES, strict=True))
            ]
            for volunteer in volunteers:
                opened.callback(volunteer.end)
                volunteer.begin()
            yield Run(volunteers, folder, seed, seen)
        left = [process for process in psutil.process_iter() if _is_of(process, folder)]
        assert left == []
        assert [path for path in folder.iterdir() if path.is_dir()] == []
        # torch names its segments by the process that made them; other runs on this machine have theirs.
        segments = [re.match(r"torch_(\d+)_", path.name) for path in Path("/dev/shm").iterdir()]
        assert [match[0] for match in segments if match and int(match[1]) in seen] == []
        names = subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout
        assert f"hive{os.getpid()}-" not in names
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_of(process: psutil.Process, folder: Path) -> bool:
    try:
        return process.environ().get(TAG, "").startswith(str(folder))
    except psutil.Error:
        return False
