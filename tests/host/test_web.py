"""The backbone's web server, asked by honest and by rude clients."""

import hashlib
import json
import os
import re
import socket
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from threading import Event

import msgspec
import pytest
import requests
import torch

from core.api.errors import UsageError, WorldError
from core.api.manifest_reading import parse
from core.host import web
from core.host.board import Board
from core.host.curve import Curve
from core.host.project import load
from core.host.register import Register
from core.host.web import Web, parse_address, span_of
from core.learning import checkpoints
from core.learning.cache import Cache
from core.learning.download import Client
from core.learning.shards import Fetcher

PRACTICE = Path(__file__).parents[2] / "resources" / "practice"
PEER = "/ip4/192.0.2.1/tcp/31337/p2p/12D3KooWJ7TyrZcJ4BNrUdgCkHQKAzfAzfmAhp2bqMqXWzVvRxFL"


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    """The practice project's, with a run of epoch 3."""
    project = load(PRACTICE / "project.toml")
    curve = Curve(tmp_path, "run", most_samples=1000)
    curve.add_training("a", epoch=1, loss=6.5, samples=512, at=10.0, current=1)
    curve.add_evaluation(1, 6.0, at=11.0)
    register = Register(tmp_path, "run")
    made = Board(project.files, curve, register, tmp_path / "checkpoints")
    made.publish(project.manifest(tmp_path, [PEER]))
    made.show(epoch=3, peers=2)
    yield made
    curve.close()
    register.close()


@pytest.fixture
def server(board: Board) -> Iterator[Web]:
    running = Web(board, "127.0.0.1:0")
    yield running
    running.close()


def get(server: Web, path: str, method: str = "GET", **headers: str) -> tuple[HTTPResponse, bytes]:
    """Without a client's tidying of paths."""
    host, port = re.findall(r"//(.*):(\d+)/", server.url)[0]
    connection = HTTPConnection(host, int(port), timeout=10)
    connection.request(method, path, headers={key.replace("_", "-"): value for key, value in headers.items()})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def connected(server: Web) -> socket.socket:
    host, port = re.findall(r"//(.*):(\d+)/", server.url)[0]
    return socket.create_connection((host, int(port)), timeout=10)


def test_a_volunteer_reads_the_manifest_and_fetches_all_its_files(server: Web, tmp_path: Path) -> None:
    address = server.url + "manifest.json"
    manifest = parse(requests.get(address, timeout=10).content, address)
    cache = Cache(tmp_path / "cache", 1 << 30)
    files = [manifest.tokenizer, *manifest.data.shards]
    paths = Fetcher(cache, Client(None, None), Event()).fetch(files)
    cache.close()
    assert paths[0].read_bytes() == (PRACTICE / "tokenizer.json").read_bytes()
    assert b"".join(path.read_bytes() for path in paths[1:]) == b"".join(
        (PRACTICE / f"train-{number}.txt").read_bytes() for number in range(4)
    )


def test_a_cut_download_goes_on_at_this_server(server: Web, board: Board, tmp_path: Path) -> None:
    shard = parse(msgspec.json.encode(board.manifest), server.url).data.shards[0]
    cache = Cache(tmp_path / "cache", 1 << 30)
    cache.part(shard).write_bytes((PRACTICE / "train-0.txt").read_bytes()[:1000])
    (path,) = Fetcher(cache, Client(None, None), Event()).fetch([shard])
    cache.close()
    assert path.read_bytes() == (PRACTICE / "train-0.txt").read_bytes()


def test_the_catalogue_lists_the_project(server: Web) -> None:
    _, body = get(server, "/catalogue.json")
    (entry,) = json.loads(body)["projects"]
    assert (entry["id"], entry["license"], entry["manifest"]) == ("shakespeare", "CC0-1.0", "manifest.json")
    assert set(entry) == {"id", "name", "summary", "organiser", "license", "manifest"}


def test_the_curve_grows_with_the_run(server: Web, board: Board) -> None:
    point = {"epoch": 1, "loss": 6.5, "evaluation_loss": 6.0, "peers": 1, "samples": 512, "at": 10.0}
    assert json.loads(get(server, "/curve.json")[1]) == {"points": [point]}
    board.curve.add_evaluation(2, 5.5, at=12.0)
    assert [point["epoch"] for point in json.loads(get(server, "/curve.json")[1])["points"]] == [1, 2]
    assert [point["epoch"] for point in json.loads(get(server, "/curve.json?since=2")[1])["points"]] == [2]


def test_the_latest_checkpoint_is_described_and_served(server: Web, board: Board) -> None:
    assert get(server, "/checkpoints/latest.json")[0].status == 404
    for epoch in (1, 2):
        checkpoints.save(board.checkpoint_folder, {"w": torch.ones(100)}, epoch=epoch, run_id="run")
    facts = json.loads(get(server, "/checkpoints/latest.json")[1])
    assert facts["epoch"] == 2
    response, body = get(server, f"/checkpoints/{facts['url']}")
    assert response.status == 200
    assert (hashlib.sha256(body).hexdigest(), len(body)) == (facts["sha256"], facts["size"])


def test_health_tells_epoch_and_peers(server: Web) -> None:
    health = json.loads(get(server, "/health.json")[1])
    assert (health["status"], health["epoch"], health["peers"]) == ("ok", 3, 2)
    assert abs(health["at"] - time.time()) < 60


def test_a_backbone_that_is_starting_says_so(board: Board) -> None:
    board.manifest = None
    server = Web(board, "127.0.0.1:0")
    try:
        assert get(server, "/manifest.json")[0].status == 503
        assert get(server, "/health.json")[0].status == 503
        assert json.loads(get(server, "/catalogue.json")[1]) == {"projects": []}
        assert b"is starting" in get(server, "/")[1]
    finally:
        server.close()


def test_the_page_shows_the_run_and_how_to_join(server: Web) -> None:
    response, body = get(server, "/")
    text = body.decode()
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "Practice: guess Shakespeare&#x27;s words" in text
    assert "<circle" in text
    assert f"idlehive projects add {server.url}manifest.json" in text


def test_what_an_organiser_or_visitor_writes_cannot_become_markup(board: Board) -> None:
    assert board.manifest
    board.publish(msgspec.structs.replace(board.manifest, name="<script>", summary="</p><script>"))
    server = Web(board, "127.0.0.1:0")
    try:
        text = get(server, "/", Host="<script>alert(1)</script>")[1].decode()
    finally:
        server.close()
    assert "<script" not in text


@pytest.mark.parametrize(
    "path",
    [
        "/data/../../../etc/passwd",
        "/data/..%2f..%2fetc%2fpasswd",
        "/data//etc/passwd",
        "/data/project.toml",
        "/data/",
        "/checkpoints/../run_id",
        "/checkpoints/..%2frun_id",
        "/checkpoints/%00",
        "//etc/passwd",
        "/http://[::1",
        "/run_id",
    ],
)
def test_nothing_outside_the_table_is_served(server: Web, path: str) -> None:
    assert get(server, path)[0].status == 404


def shard_path(board: Board) -> str:
    return "/data/" + next(name for name in board.files if name.endswith("train-0.txt"))


CONTENT = (PRACTICE / "train-0.txt").read_bytes()


@pytest.mark.parametrize(
    ("wanted", "status", "part"),
    [
        ("bytes=0-9", 206, slice(0, 10)),
        ("bytes=1000-", 206, slice(1000, None)),
        ("bytes=-10", 206, slice(-10, None)),
        (f"bytes=5-{len(CONTENT) * 2}", 206, slice(5, None)),
        (f"bytes=-{len(CONTENT) * 2}", 206, slice(0, None)),
        ("bytes=0-1,5-6", 200, slice(0, None)),
        ("bytes=9-5", 200, slice(0, None)),
        ("lines=1-2", 200, slice(0, None)),
        ("bytes=-", 200, slice(0, None)),
    ],
)
def test_ranges_are_served(server: Web, board: Board, wanted: str, status: int, part: slice) -> None:
    response, body = get(server, shard_path(board), Range=wanted)
    assert response.status == status
    assert body == CONTENT[part]
    assert response.headers["Content-Length"] == str(len(body))
    if status == 206:
        start = part.indices(len(CONTENT))[0]
        assert response.headers["Content-Range"] == f"bytes {start}-{start + len(body) - 1}/{len(CONTENT)}"


@pytest.mark.parametrize("wanted", [f"bytes={len(CONTENT)}-", "bytes=-0", "bytes=9999999999-"])
def test_a_range_outside_the_file_is_refused_with_its_size(server: Web, board: Board, wanted: str) -> None:
    response, _ = get(server, shard_path(board), Range=wanted)
    assert (response.status, response.headers["Content-Range"]) == (416, f"bytes */{len(CONTENT)}")


def test_a_range_of_another_version_gets_the_whole_file(server: Web, board: Board) -> None:
    tag = get(server, shard_path(board), "HEAD")[0].headers["ETag"]
    assert get(server, shard_path(board), Range="bytes=5-", If_Range=tag)[0].status == 206
    assert get(server, shard_path(board), Range="bytes=5-", If_Range='"other"')[1] == CONTENT
    assert get(server, shard_path(board), If_None_Match=f'"other", {tag}')[0].status == 304


def test_head_has_the_length_and_no_body(server: Web, board: Board) -> None:
    response, body = get(server, shard_path(board), "HEAD")
    assert (response.status, response.headers["Content-Length"], body) == (200, str(len(CONTENT)), b"")
    assert get(server, "/manifest.json", "HEAD")[1] == b""


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


def test_a_file_that_changed_on_disk_is_not_served_under_its_old_hash(tmp_path: Path, board: Board) -> None:
    (name, file), *_ = board.files.items()
    copy = tmp_path / "copy"
    copy.write_bytes(file.path.read_bytes())
    os.utime(copy, ns=(file.changed, file.changed))
    board.files = {name: type(file)(copy, file.sha256, file.size, file.changed)}
    server = Web(board, "127.0.0.1:0")
    try:
        assert get(server, f"/data/{name}")[0].status == 200
        copy.write_bytes(b"changed")
        assert get(server, f"/data/{name}")[0].status == 503
        copy.unlink()
        assert get(server, f"/data/{name}")[0].status == 404
    finally:
        server.close()


def test_clients_that_never_finish_their_request_are_hung_up_on(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "_REQUEST_SECONDS", 0.3)
    server = Web(board, "127.0.0.1:0")
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


def test_a_port_in_use_is_one_sentence(server: Web, board: Board) -> None:
    address = server.url.removeprefix("http://").rstrip("/")
    with pytest.raises(WorldError) as caught:
        Web(board, address)
    assert str(caught.value) == (f"The web server cannot listen on {address}: the port is in use by another program.")


def test_an_address_that_is_not_ours_is_one_sentence(board: Board) -> None:
    with pytest.raises(WorldError, match=r"cannot listen on 192\.0\.2\.1:8080"):
        Web(board, "192.0.2.1:8080")


def test_closing_hangs_up_and_frees_the_port(board: Board) -> None:
    server = Web(board, "127.0.0.1:0")
    address = server.url.removeprefix("http://").rstrip("/")
    with connected(server) as client:
        client.sendall(b"GET / HT")
        server.close()
        deadline = time.monotonic() + 10
        while not is_closed(client):
            assert time.monotonic() < deadline
    again = Web(board, address)
    again.close()


def test_a_forked_process_does_not_keep_the_port(board: Board) -> None:
    server = Web(board, "127.0.0.1:0")
    address = server.url.removeprefix("http://").rstrip("/")
    end, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(write)
        os.read(end, 1)
        os._exit(0)
    server.close()
    try:
        Web(board, address).close()
    finally:
        os.close(write)
        os.waitpid(child, 0)
        os.close(end)


def test_addresses_are_host_and_port() -> None:
    assert parse_address("127.0.0.1:80") == ("127.0.0.1", 80)
    assert parse_address("[::1]:0") == ("::1", 0)
    assert parse_address("example.org:8080") == ("example.org", 8080)
    for wrong in ("", "80", ":80", "a:b", "1.2.3.4:70000", "http://a:80", "::1:80"):
        with pytest.raises(UsageError, match="is no HOST:PORT"):
            parse_address(wrong)


def test_ipv6_is_served(board: Board) -> None:
    server = Web(board, "[::1]:0")
    try:
        assert requests.get(server.url + "health.json", timeout=10).json()["epoch"] == 3
    finally:
        server.close()


def test_a_span_never_leaves_the_file() -> None:
    for header in ("bytes=0-0", "bytes=4-9", "bytes=9-", "bytes=-3", "bytes=0-99"):
        span = span_of(header, 10)
        assert span
        assert 0 <= span.start < span.start + span.length <= 10
