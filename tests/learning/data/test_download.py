"""Files from servers that are honest, broken or hostile."""

import resource
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from app.text.formats.numbers import count
from core.api.errors import WorldError
from core.learning.data.download import Client, StoppedError
from core.learning.data.fetch import Fetcher
from core.system.cache import Cache
from core.system.reach import Reach
from tests.fakes.http_server import (
    LOOPBACK,
    answer,
    chunked,
    cut,
    endless,
    ranged,
    redirect,
    refusing_port,
    serving,
    stalled,
)
from tests.learning.fetching import CONTENT, GIB, described, fetcher, leftovers, refusal


def test_a_file_is_fetched_once_and_then_found(cache: Cache) -> None:
    with serving(ranged(CONTENT)) as server:
        file = described(server.url("train.txt"))
        (path,) = fetcher(cache).fetch([file])
        assert path.read_bytes() == CONTENT
        assert fetcher(cache).fetch([file]) == [path]
        assert len(server.seen) == 1
    assert leftovers(cache) == [file.sha256]


def test_a_cut_download_goes_on_where_it_ended(cache: Cache) -> None:
    with serving(cut(CONTENT, 100_000), ranged(CONTENT)) as server:
        (path,) = fetcher(cache).fetch([described(server.url("train.txt"))])
        assert path.read_bytes() == CONTENT
        assert [request.get("range") for request in server.seen] == [None, "bytes=100000-"]


def test_a_download_goes_on_in_the_next_session(tmp_path: Path) -> None:
    with serving(cut(CONTENT, 100_000), answer(503)) as server:
        file = described(server.url("train.txt"))
        first = Cache(tmp_path, GIB)
        assert "answers 503" in refusal(first, file)
        first.close()
        server.behaviours = [ranged(CONTENT)]
        second = Cache(tmp_path, GIB)
        (path,) = fetcher(second).fetch([file])
        second.close()
        assert path.read_bytes() == CONTENT
        assert server.seen[-1]["range"] == "bytes=100000-"


def test_a_server_without_ranges_sends_all_of_it_again(cache: Cache) -> None:
    with serving(cut(CONTENT, 100_000), answer(200, CONTENT)) as server:
        (path,) = fetcher(cache).fetch([described(server.url("train.txt"))])
    assert path.read_bytes() == CONTENT


def test_a_beginning_of_another_version_is_thrown_away(cache: Cache) -> None:
    with serving(cut(b"old " * 100_000 + CONTENT[400_000:], 1000), ranged(CONTENT)) as server:
        (path,) = fetcher(cache).fetch([described(server.url("train.txt"))])
        assert path.read_bytes() == CONTENT
        assert [request.get("range") for request in server.seen] == [None, "bytes=1000-", None]


def test_a_wrong_range_is_not_glued_onto_the_beginning(cache: Cache) -> None:
    wrong = answer(206, CONTENT[5:], content_range=f"bytes 5-{len(CONTENT) - 1}/{len(CONTENT)}")
    with serving(cut(CONTENT, 1000), wrong, ranged(CONTENT)) as server:
        (path,) = fetcher(cache).fetch([described(server.url("train.txt"))])
    assert path.read_bytes() == CONTENT


def test_a_range_that_is_refused_starts_again(cache: Cache) -> None:
    with serving(cut(CONTENT, 1000), answer(416), ranged(CONTENT)) as server:
        (path,) = fetcher(cache).fetch([described(server.url("train.txt"))])
    assert path.read_bytes() == CONTENT


def test_a_body_in_chunks_is_taken(cache: Cache) -> None:
    with serving(chunked(CONTENT)) as server:
        (path,) = fetcher(cache).fetch([described(server.url("train.txt"))])
    assert path.read_bytes() == CONTENT


def test_a_wrong_hash_names_the_file_deletes_it_and_is_not_tried_for_ever(cache: Cache) -> None:
    with serving(ranged(b"X" + CONTENT[1:])) as server:
        sentence = refusal(cache, described(server.url("data/train%20one.txt")))
        assert sentence.startswith("train one.txt cannot be fetched from 127.0.0.1:")
        assert "wrong SHA-256" in sentence
        assert len(server.seen) == 1
    assert leftovers(cache) == []


@pytest.mark.parametrize("size", [10, len(CONTENT) + 1])
def test_a_wrong_size_is_seen_before_anything_is_downloaded(cache: Cache, size: int) -> None:
    with serving(answer(200, b"y" * size)) as server:
        sentence = refusal(cache, described(server.url("train.txt")))
        assert f"it has {count(size)} bytes there, {count(len(CONTENT))} in the manifest" in sentence
        assert len(server.seen) == 1
    assert leftovers(cache) == []


def test_a_body_without_end_is_cut_off(cache: Cache) -> None:
    with serving(endless()) as server:
        assert "it is larger than the" in refusal(cache, described(server.url("train.txt")))
    assert leftovers(cache) == []


def test_a_promise_of_more_than_comes_is_a_cut_each_time(cache: Cache) -> None:
    with serving(cut(CONTENT, 10)) as server:
        assert "the connection was cut" in refusal(cache, described(server.url("train.txt")))
        assert len(server.seen) == 3


def test_a_file_that_is_not_there_is_not_asked_for_again(cache: Cache) -> None:
    with serving(answer(404)) as server:
        assert "does not have it (it answers 404)" in refusal(cache, described(server.url("train.txt")))
        assert len(server.seen) == 1


def test_a_server_that_is_not_there_is_named(cache: Cache) -> None:
    with refusing_port() as nobody:
        address = f"127.0.0.1:{nobody}"
        sentence = refusal(cache, described(f"http://{address}/train.txt"))
    assert sentence == f"train.txt cannot be fetched from {address}: the server cannot be reached."


def test_a_server_that_falls_silent_is_given_up(cache: Cache) -> None:
    with serving(stalled(CONTENT, 10)) as server:
        assert "the server stopped sending" in refusal(cache, described(server.url("train.txt")))


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/a", "http://[::1/a"])
def test_a_redirect_to_anything_but_the_web_is_refused(cache: Cache, target: str) -> None:
    with serving(redirect(target)) as server:
        assert "sends us on to" in refusal(cache, described(server.url("train.txt")))


def test_a_redirect_in_circles_ends(cache: Cache) -> None:
    with serving(redirect("/again")) as server:
        assert "redirects more than 5 times" in refusal(cache, described(server.url("train.txt")))


def test_the_body_of_a_redirect_is_not_read(cache: Cache) -> None:
    with serving(endless(302, location="/train.txt"), ranged(CONTENT)) as server:
        (path,) = fetcher(cache).fetch([described(server.url("old.txt"))])
    assert path.read_bytes() == CONTENT


def test_a_server_that_gives_and_takes_back_is_left_in_the_end(cache: Cache) -> None:
    content = bytes(3 << 20)
    with serving(*[cut(content, 2 << 20), answer(416)] * 10) as server:
        assert "cannot be fetched" in refusal(cache, described(server.url("train.txt"), content))
        assert len(server.seen) <= 5


def test_the_token_goes_to_the_manifest_s_own_origin_alone(cache: Cache) -> None:
    with serving(ranged(CONTENT)) as mirror, serving(redirect(mirror.url("train.txt"))) as profile:
        origin = profile.url("manifest.json")
        fetcher(cache, token="secret", origin=origin).fetch([described(profile.url("train.txt"))])
        assert [request.get("authorization") for request in profile.seen] == ["Bearer secret"]
        assert [request.get("authorization") for request in mirror.seen] == [None]


def test_the_volunteer_s_netrc_is_not_sent(cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password mine\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with serving(ranged(CONTENT)) as server:
        fetcher(cache).fetch([described(server.url("train.txt"))])
        assert "authorization" not in server.seen[0]


def test_stop_ends_a_fetch_at_once_even_if_the_server_hangs(cache: Cache) -> None:
    stop = threading.Event()
    with serving(stalled(CONTENT, 100_000)) as server:
        client = Client(None, None, LOOPBACK, timeouts=(30, 30))
        work = Fetcher(cache, client, stop)
        done: list[int] = []

        def progress(size: int, total: int) -> None:
            done.append(size)
            if size >= 100_000:
                stop.set()

        began = time.monotonic()
        with pytest.raises(StoppedError):
            work.fetch([described(server.url("train.txt"))], progress)
        assert time.monotonic() - began < 5
        assert done[-1] == 100_000


def test_progress_counts_all_files(cache: Cache) -> None:
    small = b"small\n"
    with serving(ranged(small), stalled(CONTENT, 5000), ranged(CONTENT)) as server:
        seen: list[tuple[int, int]] = []
        files = [described(server.url("a.txt"), small), described(server.url("b.txt"))]
        fetcher(cache).fetch(files, lambda done, total: seen.append((done, total)))
    assert (len(small) + 5000, len(small) + len(CONTENT)) in seen


def test_a_full_disk_is_one_sentence_and_leaves_nothing(cache: Cache) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with serving(ranged(CONTENT)) as server:
        file = described(server.url("train.txt"))
        # The kernel refuses to let files grow, with EFBIG where a full disk says ENOSPC.
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, before[1]))
        try:
            sentence = refusal(cache, file)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert "the disk is full" in sentence
        assert leftovers(cache) == []
        assert fetcher(cache).fetch([file])[0].read_bytes() == CONTENT


def test_a_private_address_that_is_not_the_projects_is_not_contacted(cache: Cache) -> None:
    with serving(ranged(CONTENT)) as server:
        client = Client(None, "https://example.org/manifest.json", Reach(), timeouts=(2, 0.5))
        with pytest.raises(WorldError, match="private_address"):
            Fetcher(cache, client, threading.Event(), waits=()).fetch([described(server.url("train.txt"))])
        assert not server.seen


def test_headers_that_never_end_are_given_up(cache: Cache) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Endless: ")
        while True:
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.05)

    with serving(drip) as server:
        client = Client(None, None, LOOPBACK, timeouts=(0.5, 0.5))
        with pytest.raises(WorldError):
            Fetcher(cache, client, threading.Event(), waits=()).fetch([described(server.url("train.txt"))])
