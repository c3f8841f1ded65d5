"""Parts of files over HTTP: ranges, other versions, changes on disk."""

import os
from pathlib import Path

import pytest

from core.host.web.published import PublishedRun
from core.host.web.server import Web, span_of
from tests.host.web_client import PRACTICE, get


def shard_path(published: PublishedRun) -> str:
    return "/data/" + next(name for name in published.files if name.endswith("train-0.txt"))


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
def test_ranges_are_served(server: Web, published: PublishedRun, wanted: str, status: int, part: slice) -> None:
    response, body = get(server, shard_path(published), Range=wanted)
    assert response.status == status
    assert body == CONTENT[part]
    assert response.headers["Content-Length"] == str(len(body))
    if status == 206:
        start = part.indices(len(CONTENT))[0]
        assert response.headers["Content-Range"] == f"bytes {start}-{start + len(body) - 1}/{len(CONTENT)}"


@pytest.mark.parametrize("wanted", [f"bytes={len(CONTENT)}-", "bytes=-0", "bytes=9999999999-"])
def test_a_range_outside_the_file_is_refused_with_its_size(server: Web, published: PublishedRun, wanted: str) -> None:
    response, _ = get(server, shard_path(published), Range=wanted)
    assert (response.status, response.headers["Content-Range"]) == (416, f"bytes */{len(CONTENT)}")


def test_a_range_of_another_version_gets_the_whole_file(server: Web, published: PublishedRun) -> None:
    tag = get(server, shard_path(published), "HEAD")[0].headers["ETag"]
    assert get(server, shard_path(published), Range="bytes=5-", If_Range=tag)[0].status == 206
    assert get(server, shard_path(published), Range="bytes=5-", If_Range='"other"')[1] == CONTENT
    assert get(server, shard_path(published), If_None_Match=f'"other", {tag}')[0].status == 304


def test_head_has_the_length_and_no_body(server: Web, published: PublishedRun) -> None:
    response, body = get(server, shard_path(published), "HEAD")
    assert (response.status, response.headers["Content-Length"], body) == (200, str(len(CONTENT)), b"")
    assert get(server, "/manifest.json", "HEAD")[1] == b""


def test_a_file_that_changed_on_disk_is_not_served_under_its_old_hash(tmp_path: Path, published: PublishedRun) -> None:
    (name, file), *_ = published.files.items()
    copy = tmp_path / "copy"
    copy.write_bytes(file.path.read_bytes())
    os.utime(copy, ns=(file.changed, file.changed))
    published.files = {name: type(file)(copy, file.sha256, file.size, file.changed)}
    server = Web(published, "127.0.0.1:0")
    try:
        assert get(server, f"/data/{name}")[0].status == 200
        copy.write_bytes(b"changed")
        assert get(server, f"/data/{name}")[0].status == 503
        copy.unlink()
        assert get(server, f"/data/{name}")[0].status == 404
    finally:
        server.close()


def test_a_span_never_leaves_the_file() -> None:
    for header in ("bytes=0-0", "bytes=4-9", "bytes=9-", "bytes=-3", "bytes=0-99"):
        span = span_of(header, 10)
        assert span
        assert 0 <= span.start < span.start + span.length <= 10
