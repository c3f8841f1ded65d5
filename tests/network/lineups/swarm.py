"""Peers on hosts of their own, each with a log of its interface."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.network import interface_log as log_module
from tests.network.interface_log import InterfaceLog, interface_log
from tests.network.namespaces import INTERFACE, Host, hosts
from tests.network.peers.peer_process import start_peer

PORT = 31000
SECONDS_TO_END = 30


class RemotePeer:
    """`line_peer`, or another module, in a process under the subreaper."""

    def __init__(self, host: Host, process: "subprocess.Popen[str]", interface: InterfaceLog) -> None:
        self.host = host
        self._process = process
        self.interface = interface
        self.address = str(self.answer()["address"])

    def limit(self, *, upload: int = 0, download: int = 0) -> float:
        """Set the ceilings; returns when that was."""
        self._send({"limits": {"upload_limit": upload, "download_limit": download}})
        return time.monotonic()

    def begin(self, order: str, value: Any = 0) -> float:
        self._send({order: value})
        return time.monotonic()

    def answer(self) -> Any:
        """To the oldest order that is not answered yet."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the peer has ended; its log has the reason"
        return json.loads(line)

    def ask(self, order: str, value: Any = 0) -> Any:
        self.begin(order, value)
        return self.answer()

    def _send(self, order: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()


@contextmanager
def swarm(
    folder: Path, listening: list[bool], timeout: float = 60.0, module: str = "line_peer"
) -> Iterator[list[RemotePeer]]:
    """One peer for each entry of `listening`, the first of which the others join; False only reaches out.

    `module` of `tests/network/peers` is what each of them runs.
    """
    with hosts(len(listening)) as machines, ExitStack() as opened:

        def start(number: int, *contact: str) -> "subprocess.Popen[str]":
            host = machines[number]
            listen = f"/ip4/{host.address}/tcp/{PORT}" if listening[number] else ""
            arguments = [listen, str(timeout), str(len(machines)), *contact]
            process = start_peer(module, host, folder, str(number), *arguments)
            opened.callback(_end, process)
            return process

        logs = [opened.enter_context(_log_of(host, folder, number)) for number, host in enumerate(machines)]
        first = RemotePeer(machines[0], start(0), logs[0])
        others = [start(number, first.address) for number in range(1, len(machines))]
        yield [first, *map(RemotePeer, machines[1:], others, logs[1:])]


def _log_of(host: Host, folder: Path, number: int) -> AbstractContextManager[InterfaceLog]:
    return interface_log(host.command(sys.executable, log_module.__file__, INTERFACE), folder / f"interface-{number}")


def _end(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    process.communicate(timeout=SECONDS_TO_END)
