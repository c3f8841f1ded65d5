"""Downloads on the same link as everything else, from a real server."""

import http.server
import sys
import threading
from collections.abc import Iterator

import pytest

from core.api.session_settings import Limits
from core.learning.data.download import Client
from core.swarm.traffic.link import Link
from core.swarm.traffic.throttled_download import ThrottledDownload
from tests.fakes.http_server import LOOPBACK

CONTENT = bytes(range(256)) * 200


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("ceiling", [0, 1_000_000])
def test_a_body_is_read_to_its_end_and_counted(url: str, ceiling: int) -> None:
    link = Link()
    link.apply(Limits(download_limit=ceiling))
    client = Client(None, None, LOOPBACK, read=ThrottledDownload(link, threading.Event()))
    with client.get(url, 0) as response:
        body = b"".join(iter(lambda: client.read(response, 1 << 14), b""))
    assert body == CONTENT
    up, down = link.meter.by_kind()["data"]
    # Loopback carries large packets: headers hardly count.
    assert len(CONTENT) < down < 1.1 * len(CONTENT)
    if sys.platform == "linux":
        assert 0 < up < 0.1 * len(CONTENT)
