"""The real line-up on a switch: a backbone and volunteers, each on a host of its own with a log of its interface."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, get_args

from core.api.snapshot import Phase
from tests.end_to_end.machine import Machine, Participant, wait_for
from tests.network import interface_log as log_module
from tests.network.interface_log import InterfaceLog, interface_log
from tests.network.lineups.sessions import PORT, organiser_on, volunteer_on
from tests.network.namespaces import INTERFACE, Host, hosts
from tests.swarm.averaging.peers.small_peer import hostile_environment


@dataclass(frozen=True)
class Seen:
    """What the window shows at a moment."""

    at: float
    phase: str
    uploaded: int
    downloaded: int
    upload_rate: float
    epoch: int


@dataclass
class Volunteer:
    profile: Participant
    host: Host
    interface: InterfaceLog
    seen: list[Seen] = field(default_factory=list)

    def watch(self, opened: ExitStack) -> None:
        """Collect what the window would show, as it changes."""
        command = [sys.executable, "-m", "app", "status", "--watch", "--json"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=self.profile.environment(), text=True)
        opened.callback(process.wait)
        opened.callback(process.terminate)
        threading.Thread(target=self._collect, args=(process.stdout,), daemon=True).start()

    def has_reached(self, epoch: int) -> bool:
        return bool(self.seen) and self.seen[-1].epoch >= epoch and self.seen[-1].phase in get_args(Phase)

    def _collect(self, lines: Iterator[str]) -> None:
        for line in lines:
            status: dict[str, Any] = json.loads(line)
            traffic, progress = status["traffic"], status["progress"]
            phase = progress["phase"] if status["state"] == "contributing" else status["state"]
            self.seen.append(
                Seen(
                    time.monotonic(),
                    phase,
                    *(traffic["uploaded"], traffic["downloaded"], traffic["upload_rate"]),
                    progress["epoch"],
                )
            )


@dataclass(frozen=True)
class MeasuredRun:
    backbone: InterfaceLog
    backbone_home: Participant
    volunteers: list[Volunteer]
    attack: Callable[[], None]
    """Makes the hostile volunteers send what is not finite from now on."""


@contextmanager
def measured_run(
    limits: Sequence[dict[str, int]], *, hostile: Collection[int] = (), patience: float = 240.0, **changes: Any
) -> Iterator[MeasuredRun]:
    """A volunteer for each entry of `limits`, contributing for at least two epochs when the block begins.

    `hostile` are the numbers of volunteers that can attack, `patience` the most seconds until then, `changes` lines of
    the practice project that are otherwise.
    """
    with ExitStack() as opened:
        machine = Machine()
        opened.callback(machine.clean_up)
        far, *here = opened.enter_context(hosts(1 + len(limits)))

        def log_of(host: Host) -> InterfaceLog:
            script = host.command(sys.executable, log_module.__file__, INTERFACE)
            return opened.enter_context(interface_log(script, machine.folder / f"interface-{host.namespace}"))

        backbone = log_of(far)
        organiser = organiser_on(far, machine, **changes)
        volunteers = []
        attacked = machine.folder / "attack"
        for number, (host, values) in enumerate(zip(here, limits, strict=True)):
            profile = volunteer_on(host, machine, listen_port=PORT, **values)
            if number in hostile:
                profile.add_environment(**hostile_environment(attacked))
            volunteers.append(Volunteer(profile, host, log_of(host)))
            profile.start("contribute", organiser.url)
            volunteers[-1].watch(opened)
        for volunteer in volunteers:
            wait_for(partial(volunteer.has_reached, 2), patience, "epoch 2")
        yield MeasuredRun(backbone, organiser.profile, volunteers, attacked.touch)
