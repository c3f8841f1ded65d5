"""A real HTTP proxy on loopback that leads every name to one server, with tunnels for https."""

import base64
import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

from tests.fakes.http_server import FakeServer, answer, serving


@contextmanager
def proxy_to(port: int, user: str = "", password: str = "") -> Iterator[FakeServer]:
    """Leads to `port` on loopback, whatever the name; with a user, only those that have the password."""
    wanted = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()

    def behave(handler: BaseHTTPRequestHandler) -> None:
        if user and handler.headers.get("Proxy-Authorization") != wanted:
            answer(407, proxy_authenticate="Basic")(handler)
        elif handler.command == "CONNECT":
            handler.send_response(200)
            handler.end_headers()
            _join(handler, b"", port)
        else:
            path = handler.path.split("/", 3)[3]
            request = f"GET /{path} HTTP/1.0\r\nHost: {handler.headers['Host']}\r\n\r\n"
            _join(handler, request.encode(), port)

    with serving(behave) as server:
        yield server


def _join(handler: BaseHTTPRequestHandler, first: bytes, port: int) -> None:
    """To the server, with `first` already read from the client."""
    with socket.create_connection(("127.0.0.1", port)) as server:
        server.sendall(first)
        join(handler.connection, server)


def join(client: socket.socket, server: socket.socket) -> None:
    """Pass bytes both ways until one side closes."""
    while True:
        for ready in select.select([client, server], [], [])[0]:
            data = ready.recv(65536)
            if not data:
                return
            (server if ready is client else client).sendall(data)
