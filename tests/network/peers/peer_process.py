"""Starts a peer of this folder on a host of its own."""

import subprocess
import sys
import time
from pathlib import Path

from tests.network.namespaces import Host


def start_peer(module: str, host: Host, folder: Path, name: str, *arguments: str) -> "subprocess.Popen[str]":
    """Run `module` under the subreaper, with FOLDER, NAME and these arguments, pipes and a log."""
    session = folder / f"session-{name}-{time.monotonic_ns()}"
    subreaper = [sys.executable, "-m", "core.system.subreaper", str(session), "--"]
    peer = [sys.executable, "-m", f"tests.network.peers.{module}", str(folder), name, *arguments]
    with (folder / f"{name}.log").open("ab") as log:
        return subprocess.Popen(
            host.command(*subreaper, *peer), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
