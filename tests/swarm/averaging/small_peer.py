"""A peer of a small run in a process of its own, on loopback."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from core.swarm.dht.peer import LOOPBACK
from tests.waiting import wait_for

ROOT = Path(__file__).parents[3]


def hostile_environment(when: Path) -> dict[str, str]:
    """For a process whose rounds are to be attacks from then on; see `tests/network/hostile`."""
    return {"PYTHONPATH": str(ROOT / "tests" / "network" / "hostile"), "HOSTILE_WHEN": str(when)}


class Peer:
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
    ) -> None:
        """One that is hostile sends what is not finite, once the file `hostile_when` is there."""
        subreaper = [sys.executable, "-m", "core.system.subreaper", str(folder / f"subreaper-{name}"), "--"]
        arguments = [str(folder), name, LOOPBACK if listens else "", str(pause), *([contact] if contact else [])]
        with (folder / f"{name}.log").open("wb") as log:
            self._process = subprocess.Popen(
                [*subreaper, sys.executable, "-m", "tests.network.churn_peer", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=os.environ | hostile_environment(hostile_when) if hostile_when else None,
            )
        self.events: list[dict[str, Any]] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        self.events.extend(map(json.loads, self._process.stdout))

    @property
    def address(self) -> str:
        wait_for(lambda: self.events, 120.0, "it has joined", every=0.1)
        return str(self.events[0]["address"])

    @property
    def updates(self) -> dict[int, dict[str, Any]]:
        return {event["epoch"]: event for event in list(self.events) if "epoch" in event}

    def until(self, epoch: int, seconds: float = 150.0) -> None:
        wait_for(lambda: max(self.updates, default=0) >= epoch, seconds, f"epoch {epoch}")

    def leave(self) -> None:
        self._process.communicate(timeout=60)
