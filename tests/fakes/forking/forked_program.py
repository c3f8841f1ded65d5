"""A program for fork servers: says what it is, and then does as it is told on standard input, line by line."""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from core.client.installation import core_command
from core.system.forking.server import fork_server
from core.system.orphans import TAG


def main() -> None:
    about = {
        "pid": os.getpid(),
        "arguments": sys.argv[1:],
        "has_loaded": "colorsys" in sys.modules,
        "session": os.environ[TAG],
        "temporary": tempfile.gettempdir(),
        "cleaned_up": (library := sys.modules.get("tests.fakes.forking.slow_to_end")) and library.is_cleaned_up(),
    }
    print(json.dumps(about), flush=True)
    for line in sys.stdin:
        match line.strip():
            case "straggle":
                print(straggler(), flush=True)
            case "nest":
                nest()
            case code:
                sys.exit(int(code))


def straggler() -> int:
    """A process that is in no group of the session."""
    if not (pid := os.fork()):
        os.setsid()
        time.sleep(600)
    return pid


def nest() -> None:
    """Run another one, which a server of this process forks."""
    server = fork_server()
    assert server is not None
    command = core_command("tests.fakes.forking.forked_program", "inner")
    inner = server.start(command, Path(os.environ[TAG], "nested"), 0.5)
    print(inner.stdout.readline().decode(), end="", flush=True)
    assert inner.poll() is None
    inner.stdin.write(b"9\n")
    inner.stdin.flush()
    print(inner.wait(20.0), flush=True)
    inner.stdin.close()
    inner.stdout.close()


if __name__ == "__main__":
    main()
