"""A peer of a small run in a process of its own, on loopback or a host of its own."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.swarm.dht.peer import LOOPBACK
from tests.network.namespaces import Host
from tests.waiting import wait_for

ROOT = Path(__file__).parents[4]


def hostile_environment(when: Path) -> dict[str, str]:
    """For a process whose rounds are to be attacks from then on; see `tests/network/hostile`."""
    return {"PYTHONPATH": str(ROOT / "tests" / "network" / "hostile"), "HOSTILE_WHEN": str(when)}


class Process:
    """A peer in a process of its own, that prints what happens in lines of JSON and ends with its stdin."""

    def __init__(
        self,
        folder: Path,
        name: str,
        module: str,
        arguments: Sequence[str],
        *,
        environment: dict[str, str] | None = None,
        host: Host | None = None,
    ) -> None:
        subreaper = [sys.executable, "-m", "core.system.subreaper", str(folder / f"subreaper-{name}"), "--"]
        command = [*subreaper, sys.executable, "-m", module, *arguments]
        with (folder / f"{name}.log").open("wb") as log:
            self._process = subprocess.Popen(
                command if host is None else host.command(*command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=os.environ | environment if environment else None,
            )
        self.events: list[dict[str, Any]] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        self.events.extend(map(json.loads, self._process.stdout))

    def those_with(self, key: str) -> list[dict[str, Any]]:
        """The events that say this."""
        assert self._process.poll() is None, "it has ended"
        return [event for event in list(self.events) if key in event]

    @property
    def updates(self) -> dict[int, dict[str, Any]]:
        """By epoch; also those of a process that has ended."""
        return {event["epoch"]: event for event in list(self.events) if "epoch" in event}

    def leave(self) -> None:
        self._process.communicate(timeout=60)


class Peer(Process):
    """`churn_peer` in a process of its own."""

    def __init__(
        self,
        folder: Path,
        name: str,
        pause: float,
        contact: str = "",
        *,
        listens: bool = False,
        hostile_when: Path | None = None,
        host: Host | None = None,
    ) -> None:
        """One that is hostile sends what is not finite, once the file `hostile_when` is there."""
        place = LOOPBACK if host is None else f"/ip4/{host.address}/tcp/0"
        arguments = [str(folder), name, place if listens else "", str(pause), *([contact] if contact else [])]
        environment = hostile_environment(hostile_when) if hostile_when else None
        super().__init__(folder, name, "tests.network.peers.churn_peer", arguments, environment=environment, host=host)

    @property
    def address(self) -> str:
        wait_for(lambda: self.events, 120.0, "it has joined", every=0.1)
        return str(self.events[0]["address"])

    def until(self, epoch: int, seconds: float = 150.0) -> None:
        wait_for(lambda: max(self.updates, default=0) >= epoch, seconds, f"epoch {epoch}")
