"""Connections to the backbone's web server: broken, slow, too many, and how they end."""

import os
import re
import socket
import time

import pytest
import requests

from core.api.errors import UsageError, WorldError
from core.api.message import Message
from core.host.web import server as web
from core.host.web.published import PublishedRun
from core.host.web.server import Web, parse_address
from tests.host.web_client import get


def connected(server: Web) -> socket.socket:
    host, port = re.findall(r"//(.*):(\d+)/", server.url)[0]
    return socket.create_connection((host, int(port)), timeout=10)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "BREW"])
def test_only_get_and_head_are_answered(server: Web, method: str) -> None:
    response, _ = get(server, "/manifest.json", method)
    assert (response.status, response.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    "line", [b"nonsense\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /" + b"a" * 70_000 + b"\r\n\r\n"]
)
def test_what_is_no_request_is_refused_and_the_server_lives_on(server: Web, line: bytes) -> None:
    with connected(server) as client:
        client.sendall(line)
        assert b"200 OK" not in client.recv(1000)
    assert get(server, "/health.json")[0].status == 200


def test_clients_that_never_finish_their_request_are_hung_up_on(
    published: PublishedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "_REQUEST_SECONDS", 0.3)
    server = Web(published, "127.0.0.1:0")
    try:
        with connected(server) as client:
            client.sendall(b"GET / HT")
            began = time.monotonic()
            assert client.recv(1000) == b""
            assert time.monotonic() - began < 5
    finally:
        server.close()


def test_one_address_cannot_take_all_places(server: Web) -> None:
    idle = [connected(server) for _ in range(40)]
    try:
        deadline = time.monotonic() + 10
        refused = 0
        while not refused and time.monotonic() < deadline:
            refused = sum(is_closed(client) for client in idle)
        assert refused
    finally:
        for client in idle:
            client.close()
    deadline = time.monotonic() + 10
    while True:
        try:
            assert get(server, "/health.json")[0].status == 200
            break
        except OSError:
            assert time.monotonic() < deadline


def is_closed(client: socket.socket) -> bool:
    client.settimeout(0.02)
    try:
        return client.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def test_a_port_in_use_is_one_sentence(server: Web, published: PublishedRun) -> None:
    address = server.url.removeprefix("http://").rstrip("/")
    with pytest.raises(WorldError) as caught:
        Web(published, address)
    assert caught.value.message == Message("address_in_use", {"address": address})


def test_an_address_that_is_not_ours_is_one_sentence(published: PublishedRun) -> None:
    with pytest.raises(WorldError, match=r"^address_not_listened address=192\.0\.2\.1:8080"):
        Web(published, "192.0.2.1:8080")


def test_closing_hangs_up_and_frees_the_port(published: PublishedRun) -> None:
    server = Web(published, "127.0.0.1:0")
    address = server.url.removeprefix("http://").rstrip("/")
    with connected(server) as client:
        client.sendall(b"GET / HT")
        server.close()
        deadline = time.monotonic() + 10
        while not is_closed(client):
            assert time.monotonic() < deadline
    again = Web(published, address)
    again.close()


def test_a_forked_process_does_not_keep_the_port(published: PublishedRun) -> None:
    server = Web(published, "127.0.0.1:0")
    address = server.url.removeprefix("http://").rstrip("/")
    end, write = os.pipe()
    forked, told = os.pipe()
    child = os.fork()
    if not child:
        os.close(write)
        os.write(told, b"!")  # after what is registered for a fork
        os.read(end, 1)
        os._exit(0)
    assert os.read(forked, 1)
    server.close()
    try:
        Web(published, address).close()
    finally:
        os.close(write)
        os.waitpid(child, 0)
        for descriptor in (end, forked, told):
            os.close(descriptor)


def test_addresses_are_host_and_port() -> None:
    assert parse_address("127.0.0.1:80") == ("127.0.0.1", 80)
    assert parse_address("[::1]:0") == ("::1", 0)
    assert parse_address("example.org:8080") == ("example.org", 8080)
    for wrong in ("", "80", ":80", "a:b", "1.2.3.4:70000", "http://a:80", "::1:80"):
        with pytest.raises(UsageError, match="listen_address_invalid"):
            parse_address(wrong)


def test_ipv6_is_served(published: PublishedRun) -> None:
    server = Web(published, "[::1]:0")
    try:
        assert requests.get(server.url + "health.json", timeout=10).json()["epoch"] == 3
    finally:
        server.close()
