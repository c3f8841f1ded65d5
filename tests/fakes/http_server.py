"""A real HTTP server on loopback that does to each request what a test says, honest or not."""

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from core.system.reach import Reach

LOOPBACK = Reach(frozenset({"127.0.0.1", "localhost"}))
"""For clients of these servers."""

Behaviour = Callable[[BaseHTTPRequestHandler], None]


class FakeServer(ThreadingHTTPServer):
    """`behaviours` are used up one a request; the last one stays. `seen` has the headers of every request."""

    daemon_threads = True

    def __init__(self, *behaviours: Behaviour) -> None:
        self.behaviours = list(behaviours)
        self.seen: list[dict[str, str]] = []
        self.gone = threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, FakeServer)
        server = self.server
        server.seen.append({"path": self.path, **{key.lower(): value for key, value in self.headers.items()}})
        behaviour = server.behaviours.pop(0) if len(server.behaviours) > 1 else server.behaviours[0]
        behaviour(self)
        self.close_connection = True

    def do_CONNECT(self) -> None:
        self.do_GET()

    def log_message(self, *arguments: object) -> None:
        """Tests are quiet."""


@contextmanager
def serving(*behaviours: Behaviour) -> Iterator[FakeServer]:
    """A running server; when the block ends, its threads and sockets are gone."""
    server = FakeServer(*behaviours)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.gone.set()
        server.shutdown()
        server.server_close()
        thread.join()


def answer(status: int, body: bytes = b"", **headers: str) -> Behaviour:
    """A whole response; `content_range="…"` becomes the header Content-Range."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for key, value in {"content_length": str(len(body)), **headers}.items():
            handler.send_header(key.replace("_", "-").title(), value)
        handler.end_headers()
        handler.wfile.write(body)

    return behave


def ranged(content: bytes) -> Behaviour:
    """An honest server with ranges."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        asked = handler.headers.get("Range", "")
        if not asked:
            answer(200, content)(handler)
            return
        start = int(asked.removeprefix("bytes=").rstrip("-"))
        answer(206, content[start:], content_range=f"bytes {start}-{len(content) - 1}/{len(content)}")(handler)

    return behave


def cut(content: bytes, after: int) -> Behaviour:
    """Promises everything, sends a part and hangs up."""
    return answer(200, content[:after], content_length=str(len(content)))


def stalled(content: bytes, after: int) -> Behaviour:
    """Sends a part, then nothing more, with the connection open."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        cut(content, after)(handler)
        assert isinstance(handler.server, FakeServer)
        handler.server.gone.wait(30)

    return behave


def endless(status: int = 200, **headers: str) -> Behaviour:
    """A body without length and without end."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for key, value in headers.items():
            handler.send_header(key, value)
        handler.end_headers()
        while True:
            handler.wfile.write(b"x" * 65536)

    return behave


def chunked(content: bytes) -> Behaviour:
    """The body in chunks, as generators of pages send it."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.protocol_version = "HTTP/1.1"
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for start in range(0, len(content), 1000):
            piece = content[start : start + 1000]
            handler.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        handler.wfile.write(b"0\r\n\r\n")

    return behave


def redirect(target: str) -> Behaviour:
    return answer(302, location=target)


@contextmanager
def refusing_port(ports: Iterable[int] = (0,)) -> Iterator[int]:
    """A port that refuses connections: it is taken, but nobody listens, so no other process can begin to. The first
    free one of `ports`; 0: any."""
    with socket.socket() as taken:
        for port in ports:
            with suppress(OSError):
                taken.bind(("127.0.0.1", port))
                break
        yield int(taken.getsockname()[1])


def closed_port() -> int:
    """A port that was free a moment ago, for a server to listen on. Other processes may take it first."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
