"""The engine with the socket that it has on Windows."""

import sys

from core.client import engine_socket, loopback_socket
from core.engine.__main__ import main

COMMAND = [sys.executable, "-m", "tests.fakes.loopback_engine"]

if __name__ == "__main__":
    engine_socket.serve = loopback_socket.serve
    sys.exit(main())
