"""A backbone of a test's own: the practice project with small batches, served by `idlehive host`."""

import json
import re
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.end_to_end.machine import Machine, Program, wait_for
from tests.end_to_end.projects import project
from tests.fakes.http_server import closed_port


class Organiser:
    """At the same place whenever it runs.

    Parameters:
        others: multiaddresses of the project's other backbones.
        at, address: the command that runs it on another host, and that host's address.
        changes: lines of the project that are otherwise.
    """

    def __init__(
        self,
        machine: Machine,
        name: str,
        others: Sequence[str] = (),
        *,
        at: Sequence[str] = (),
        address: str = "127.0.0.1",
        **changes: str | int,
    ) -> None:
        self.profile = machine.profile(name, at=at)
        folder = machine.folder / f"at-{name}"
        folder.mkdir()
        self.checkpoints = folder / "state" / "checkpoints"
        self._state = folder / "state"
        self.description = described(folder, others, **changes)
        self._http, self._listen = (f"{address}:{closed_port()}", f"/ip4/{address}/tcp/{closed_port()}")

    @property
    def url(self) -> str:
        return f"http://{self._http}/manifest.json"

    def start(self) -> Program:
        program = self.profile.start(
            *("host", str(self.description), "--http", self._http),
            *("--listen", self._listen, "--state", str(self._state)),
        )
        wait_for(lambda: "Serving" in program.said() or program.process.poll() is not None, 120.0, "it serves")
        assert program.process.poll() is None, program.complained()
        return program

    def address(self) -> str:
        """Its own, with its peer id."""
        peers: list[str] = self.read("manifest.json")["initial_peers"]
        return peers[0]

    def read(self, page: str) -> Any:
        with urllib.request.urlopen(f"http://{self._http}/{page}", timeout=10) as answer:
            return json.load(answer)


def described(folder: Path, others: Sequence[str], **changes: str | int) -> Path:
    """The project's file, with checkpoints soon; its other backbones in it."""
    file = project(folder, **{"target_batch_size": 96, "checkpoint_every": 2, "evaluate_every": 1, **changes})
    text = f'run_id = "together"\n{file.read_text()}'
    file.write_text(re.sub(r"(?m)^\[host\]$", f"[host]\nextra_peers = {json.dumps(list(others))}", text))
    return file
