"""A real fork server, and the programs that it forks."""

import json
import socket
import subprocess
from pathlib import Path
from typing import IO, Any

from core.client.installation import core_command, core_environment
from core.system.forking.requests import Forked, ForkServer
from core.system.forking.shown_process import reserve
from core.system.orphans import TAG, processes_of
from tests.waiting import wait_for


class Server:
    """In a process of its own, with a small library."""

    def __init__(self, runtime: Path, library: str = "colorsys") -> None:
        self.runtime = runtime
        own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command, environment = reserve(
            core_command("core.system.forking.server", library),
            {**core_environment(), TAG: str(runtime / "session-000000")},
        )
        with other:
            self.process = subprocess.Popen(command, stdin=other.fileno(), env=environment, start_new_session=True)
        self.asking = ForkServer(own)
        self._pipes: list[IO[bytes]] = []

    def program(self, name: str = "session-111111", *arguments: str) -> tuple[Forked, dict[str, Any]]:
        """One that runs, and what it said of itself."""
        command = core_command("tests.fakes.forking.forked_program", *arguments)
        forked = self.asking.start(command, self.runtime / name, 0.5)
        self._pipes += [forked.stdin, forked.stdout]
        return forked, json.loads(forked.stdout.readline())

    def close(self) -> None:
        self.asking.wire.close()
        self.process.wait(10)
        wait_for(lambda: not processes_of(self.runtime), 10, "all processes have ended")
        for pipe in self._pipes:
            pipe.close()
