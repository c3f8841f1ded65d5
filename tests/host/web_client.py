"""Asks a backbone's web server."""

import re
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

from core.host.web.server import Web

PRACTICE = Path(__file__).parents[2] / "resources" / "practice"
PEER = "/ip4/192.0.2.1/tcp/31337/p2p/12D3KooWJ7TyrZcJ4BNrUdgCkHQKAzfAzfmAhp2bqMqXWzVvRxFL"


def get(server: Web, path: str, method: str = "GET", **headers: str) -> tuple[HTTPResponse, bytes]:
    """Without a client's tidying of paths."""
    host, port = re.findall(r"//(.*):(\d+)/", server.url)[0]
    connection = HTTPConnection(host, int(port), timeout=10)
    connection.request(method, path, headers={key.replace("_", "-"): value for key, value in headers.items()})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body
