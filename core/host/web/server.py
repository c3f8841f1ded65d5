"""The backbone's web server: manifest, data, learning curve, checkpoints, and a page for people.

GET and HEAD, one request a connection, a bounded number of connections, and a deadline for each request.
"""

import contextlib
import errno
import logging
import os
import re
import socket
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from threading import Lock, Thread
from typing import Any, BinaryIO

from core.api.errors import UsageError, WorldError, detail_of
from core.host.project.files import ServedFile
from core.host.web.published import PublishedRun
from core.host.web.routes import Answer, answer, error

log = logging.getLogger(__name__)

_MOST_CONNECTIONS = 128
_MOST_PER_ADDRESS = 32
_REQUEST_SECONDS = 15.0
_IDLE_SECONDS = 60.0
"""Seconds without progress while a response is sent."""
_NO_DEADLINE = 1e18
_POLL_INTERVAL = 0.2
"""Seconds between two checks for slow requests, and for `close`."""


class Web:
    """The server, on a thread of its own until `close`."""

    def __init__(self, published: PublishedRun, address: str) -> None:
        """`address` is HOST:PORT; port 0: any free one.

        Raises:
            UsageError: it has another form.
            WorldError: listening failed, for example because the port is in use.
        """
        host, port = parse_address(address)
        try:
            self._server = _Server(published, host, port)
        except OSError as problem:
            if problem.errno == errno.EADDRINUSE:
                raise WorldError("address_in_use", address=address) from None
            raise WorldError("address_not_listened", address=address, detail=detail_of(problem)) from None
        # hivemind's forked processes would hold the port after the end of this one.
        os.register_at_fork(after_in_child=self._server.socket.close)
        self._thread = Thread(target=self._server.serve_forever, args=(_POLL_INTERVAL,), name="web", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """URL of the page on this machine."""
        host, port = self._server.server_address[:2]
        return f"http://[{host!s}]:{port}/" if ":" in str(host) else f"http://{host!s}:{port}/"

    def close(self) -> None:
        """Stop listening and close all connections."""
        self._server.shutdown()
        self._server.server_close()
        self._server.hang_up(2 * _NO_DEADLINE)
        self._thread.join()


def parse_address(address: str) -> tuple[str, int]:
    """Host and port of HOST:PORT, with an IPv6 host in brackets.

    Raises:
        UsageError: it has another form.
    """
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):([0-9]{1,5})", address)
    if not match or int(match[3]) > 65535:
        raise UsageError("listen_address_invalid", address=address)
    return match[1] or match[2], int(match[3])


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, published: PublishedRun, host: str, port: int) -> None:
        self.published = published
        self._lock = Lock()
        self._open: dict[socket.socket, tuple[str, float]] = {}
        """Connections with the client's address and the deadline of its request (monotonic seconds)."""
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        # The base class looks up the host's name in DNS, which can be slow and is not needed.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "idlehive", self.server_address[1]

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Whether another connection is allowed; a refused one gets no response, since sending could block."""
        client = str(client_address[0])
        with self._lock:
            per_address = Counter(address for address, _ in self._open.values())
            if len(self._open) >= _MOST_CONNECTIONS or per_address[client] >= _MOST_PER_ADDRESS:
                return False
            self._open[request] = client, time.monotonic() + _REQUEST_SECONDS
        return True

    def service_actions(self) -> None:
        """Close connections with slow requests; called several times a second."""
        self.hang_up(time.monotonic())

    def hang_up(self, now: float) -> None:
        """Close connections whose deadline is before `now`."""
        with self._lock:
            late = [request for request, (_, deadline) in self._open.items() if deadline < now]
            for request in late:
                with contextlib.suppress(OSError):
                    request.shutdown(socket.SHUT_RDWR)

    def request_is_read(self, request: socket.socket) -> None:
        """Remove the deadline: a large file may take long, as long as it makes progress."""
        with self._lock:
            if request in self._open:
                self._open[request] = self._open[request][0], _NO_DEADLINE

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that disconnects is normal; any other error is a fault of the program."""
        del request
        problem = sys.exception()
        if isinstance(problem, OSError):
            log.debug("the connection to %s was lost", client_address)
        else:
            log.error("a request of %s failed", client_address, exc_info=problem)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "Idlehive"
    sys_version = ""
    timeout = _IDLE_SECONDS
    server: _Server

    def do_GET(self) -> None:
        self.server.request_is_read(self.connection)
        try:
            made = answer(self.server.published, self.path, self.headers.get("Host", ""))
        except WorldError as problem:
            log.warning("%s", problem)
            made = error(500, "This cannot be shown now; the log of the backbone says why.")
        if made.file:
            self._send_file(made, made.file)
        else:
            self._send(made)

    def do_HEAD(self) -> None:
        self.do_GET()

    def _send_file(self, made: Answer, served: ServedFile) -> None:
        try:
            with served.path.open("rb") as content:
                status = os.fstat(content.fileno())
                # Else a volunteer would find the wrong hash only after the download.
                if (status.st_size, status.st_mtime_ns) != (served.size, served.changed):
                    self._send(error(503, "the file has changed since the backbone was started"))
                else:
                    self._send_content(made, served, content)
        except FileNotFoundError:
            self._send(error(404, "the file is gone"))

    def _send_content(self, made: Answer, served: ServedFile, content: BinaryIO) -> None:
        tag = f'"{served.sha256}"'
        fixed = (("ETag", tag), ("Accept-Ranges", "bytes"), ("Cache-Control", "public, max-age=86400"))
        if tag in re.split(r"\s*,\s*", self.headers.get("If-None-Match", "")):
            self._send(Answer(304, headers=fixed))
            return
        wanted = self.headers.get("Range", "") if self.headers.get("If-Range", tag) == tag else ""
        try:
            span = span_of(wanted, served.size)
        except ValueError:
            self._send(replace(error(416, "the range lies outside the file"), headers=(_range(f"*/{served.size}"),)))
            return
        part = span or Span(0, served.size)
        end = part.start + part.length - 1
        headers = (*fixed, _range(f"{part.start}-{end}/{served.size}")) if span else fixed
        self._send_head(206 if span else 200, made.type, part.length, headers)
        if self.command == "GET":
            self.wfile.flush()
            self.connection.sendfile(content, part.start, part.length)

    def _send(self, made: Answer) -> None:
        self._send_head(made.status, made.type, len(made.body), (("Cache-Control", "no-cache"), *made.headers))
        if self.command != "HEAD":
            self.wfile.write(made.body)

    def _send_head(self, status: int, kind: str, length: int, headers: tuple[tuple[str, str], ...]) -> None:
        self.close_connection = True
        self.send_response(status)
        if status != 304:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(length))
        for name, value in (*headers, ("X-Content-Type-Options", "nosniff"), ("Connection", "close")):
            self.send_header(name, value)
        self.end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Called by the base class for a bad request."""
        del message, explain
        if code == 501:
            self._send(replace(error(405, "only GET and HEAD are answered"), headers=(("Allow", "GET, HEAD"),)))
        else:
            self._send(error(code, "this request cannot be understood"))

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the base class's name
        log.debug("%s " + format, self.address_string(), *arguments)  # noqa: G003 - the base class's format


def _range(value: str) -> tuple[str, str]:
    return "Content-Range", f"bytes {value}"


@dataclass(frozen=True)
class Span:
    """Bytes of a file: `length` from `start` on."""

    start: int
    length: int


def span_of(header: str, size: int) -> Span | None:
    """The span of a Range header in a file of `size` bytes (RFC 9110, 14.2); None: the whole file.

    Several ranges are answered with the whole file, as the RFC allows.

    Raises:
        ValueError: the range lies outside the file.
    """
    match = re.fullmatch(r"bytes=([0-9]{0,18})-([0-9]{0,18})", header.strip())
    if not match or not (match[1] or match[2]):
        return None
    if not match[1]:
        start, end = max(size - int(match[2]), 0), size
    else:
        start, end = int(match[1]), min(int(match[2]) + 1, size) if match[2] else size
    if match[1] and match[2] and int(match[2]) < start:
        return None
    if start >= size:
        raise ValueError(header)
    return Span(start, end - start)
