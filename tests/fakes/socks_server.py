"""A real SOCKS5 proxy on loopback (RFC 1928, RFC 1929) that leads every name to one server."""

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.fakes.proxy_server import join

_NO_AUTH, _PASSWORD, _NAME = 0, 2, 3
_REFUSED = 5


class SocksServer(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, port: int, user: str, password: str) -> None:
        self.port, self.user, self.password = port, user, password
        self.asked: list[str] = []
        """Names that clients left to this proxy."""
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is part of the tests."""


class _Handler(socketserver.StreamRequestHandler):
    server: SocksServer

    def handle(self) -> None:
        methods = self.rfile.read(self.rfile.read(2)[1])
        wanted = _PASSWORD if self.server.user else _NO_AUTH
        if wanted not in methods:
            self.wfile.write(b"\x05\xff")
            return
        self.wfile.write(bytes([5, wanted]))
        if wanted == _PASSWORD and not self._is_known():
            return
        kind = self.rfile.read(4)[3]
        if kind != _NAME:
            raise AssertionError("the client has looked up the name itself")
        self.server.asked.append(self.rfile.read(self.rfile.read(1)[0]).decode())
        self.rfile.read(2)
        if not self.server.port:
            self.wfile.write(bytes([5, _REFUSED, 0, 1, 0, 0, 0, 0, 0, 0]))
            return
        self.wfile.write(bytes([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
        with socket.create_connection(("127.0.0.1", self.server.port)) as server:
            join(self.connection, server)

    def _is_known(self) -> bool:
        self.rfile.read(1)
        user, password = (self.rfile.read(self.rfile.read(1)[0]).decode() for _ in range(2))
        known = (user, password) == (self.server.user, self.server.password)
        self.wfile.write(bytes([1, 0 if known else 1]))
        return known


@contextmanager
def socks_to(port: int, user: str = "", password: str = "") -> Iterator[SocksServer]:
    """Leads to `port` on loopback, whatever the name; port 0: it cannot reach the server."""
    with SocksServer(port, user, password) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
