"""Peers of a benchmark: each a process on a host of its own, which answers with lines of JSON."""

import json
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.network.namespaces import Host

Peer = subprocess.Popen[str]


class PeerProcesses:
    """Starts peers with a folder and a log each; they and their files go when `opened` is closed."""

    def __init__(self, opened: ExitStack) -> None:
        self._opened, self._folder = opened, Path(tempfile.mkdtemp(prefix="hive"))
        opened.callback(shutil.rmtree, self._folder)

    def start(self, host: Host, module: str, *arguments: str, task: dict[str, Any]) -> Peer:
        """Run `module` on this host; its arguments are its folder, `arguments` and the task as JSON."""
        folder = self._folder / host.namespace
        command = host.command(sys.executable, "-m", module, str(folder), *arguments, json.dumps(task))
        log = self._opened.enter_context(folder.with_suffix(".log").open("w"))
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        self._opened.callback(process.communicate, timeout=60)
        return process

    def read(self, peer: Peer) -> dict[str, Any]:
        """The next answer; without one the benchmark ends with the logs of all peers."""
        line = peer.stdout.readline()  # type: ignore[union-attr]
        if not line:
            sys.exit("\n".join(f"{log.name}\n{log.read_text()}" for log in self._folder.glob("*.log")))
        return dict(json.loads(line))
