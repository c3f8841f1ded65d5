"""Hostile web servers: what they can make a volunteer's machine do."""

import socket
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import psutil
import pytest
import requests

from core.api.errors import WorldError
from core.engine.projects import fetch
from core.system import web
from core.system.reach import Reach
from tests.fakes.http_server import LOOPBACK, answer, endless, redirect, serving
from tests.waiting import wait_for

CAP = 1 << 20


def dripping(handler: BaseHTTPRequestHandler) -> None:
    """A header that never ends, a byte at a time, so that no time-out between two bytes helps."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Endless: ")
    while True:
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(0.05)


def dripping_body(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n")
    while True:
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(0.05)


def test_the_endless_body_of_a_redirect_is_never_read() -> None:
    before = psutil.Process().memory_info().rss
    with serving(endless(302, Location="second"), answer(200, b"{}")) as server:
        assert fetch.from_url(server.url("first"), CAP)[0] == b"{}"
    assert psutil.Process().memory_info().rss < before + (32 << 20)


@pytest.mark.parametrize("behaviour", [dripping, dripping_body])
def test_a_server_that_drips_loses_its_connection_at_the_deadline(
    behaviour: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "SECONDS", 0.5)
    ended = []

    def watched(handler: BaseHTTPRequestHandler) -> None:
        try:
            behaviour(handler)  # type: ignore[operator]
        except OSError:
            ended.append(True)

    with serving(watched) as server:
        began = time.monotonic()
        with pytest.raises(WorldError):
            fetch.from_url(server.url("m.json"), CAP)
        assert time.monotonic() - began < 3.0
        wait_for(lambda: ended, 5.0, "the server to see its connection closed")


def test_a_document_is_not_fetched_from_another_server_than_the_one_named() -> None:
    with serving(answer(200, b"{}")) as other:
        elsewhere = other.url("m.json").replace("127.0.0.1", "localhost")
        with serving(redirect(elsewhere)) as server, pytest.raises(WorldError) as refused:
            fetch.from_url(server.url("m.json"), CAP)
        assert refused.value.message.kind == "redirected_elsewhere"
        assert not other.seen


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "127.1", "[::ffff:127.0.0.1]"])
def test_a_private_address_is_not_contacted_however_it_is_written(host: str) -> None:
    with serving(answer(200, b"secret")) as server, pytest.raises(WorldError) as refused:
        fetch.from_url(server.url("admin").replace("127.0.0.1", host), CAP, Reach())
    assert refused.value.message.kind == "private_address"
    assert not server.seen


def test_a_name_is_resolved_once_and_the_address_that_was_checked_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])
    contacted: list[object] = []

    def rebinding(_name: str, port: int, *_: object, **__: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in next(answers)]

    def connect(address: object, *_: object, **__: object) -> socket.socket:
        contacted.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    monkeypatch.setattr("urllib3.util.connection.create_connection", connect)
    with web.Deadline(5.0) as deadline, pytest.raises(requests.ConnectionError):
        web.ask("http://evil.example/", Reach(), deadline, (1.0, 1.0), {})
    assert contacted == [("93.184.216.34", 80)]
    with web.Deadline(5.0) as deadline, pytest.raises(WorldError, match="private_address"):
        web.ask("http://evil.example/", Reach(), deadline, (1.0, 1.0), {})


def test_a_redirect_never_leads_from_https_to_http() -> None:
    assert web.redirected("https://a.example/x", "/y") == "https://a.example/y"
    for target in ("http://a.example/x", "file:///etc/passwd", "http://me:pass@a.example/", "http://[", "ftp://a/"):
        with pytest.raises(WorldError, match="bad_redirect"):
            web.redirected("https://a.example/x", target)


def test_what_the_volunteer_has_in_netrc_is_sent_to_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with serving(answer(200, b"{}")) as server:
        fetch.from_url(server.url("m.json"), CAP, LOOPBACK)
        assert "authorization" not in server.seen[0]
