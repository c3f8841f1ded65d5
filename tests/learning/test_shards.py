"""Shards from servers that are honest, broken or hostile; the cache under its cap; the stream of texts."""

import hashlib
import multiprocessing
import os
import resource
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from itertools import islice
from pathlib import Path

import pytest

from core.api.errors import WorldError
from core.api.manifest import File
from core.learning.cache import Cache
from core.learning.download import Client, StoppedError
from core.learning.shards import Fetcher, text_stream, texts
from tests.fakes.http_server import (
    answer,
    chunked,
    closed_port,
    cut,
    endless,
    ranged,
    redirect,
    serving,
    stalled,
)

CONTENT = b"".join(b"line %d\n" % number for number in range(60_000))
GIB = 1 << 30


def described(url: str, content: bytes = CONTENT) -> File:
    return File(url=url, sha256=hashlib.sha256(content).hexdigest(), size=len(content))


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    made = Cache(tmp_path / "cache", GIB)
    yield made
    made.close()


def fetcher(cache: Cache, stop: threading.Event | None = None, **options: str) -> Fetcher:
    client = Client(options.get("token"), options.get("origin"), timeouts=(2, 0.5))
    return Fetcher(cache, client, stop or threading.Event(), waits=(0.01, 0.01))


def refusal(cache: Cache, file: File) -> str:
    with pytest.raises(WorldError) as caught:
        fetcher(cache).fetch([file])
    assert "\n" not in str(caught.value)
    return str(caught.value)


def leftovers(cache: Cache) -> list[str]:
    return [path.name for path in cache.folder.iterdir() if path.suffix != ".lease" and path.name != ".lock"]


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
        assert sentence.startswith("train one.txt cannot be had from 127.0.0.1:")
        assert "wrong SHA-256" in sentence
        assert len(server.seen) == 1
    assert leftovers(cache) == []


@pytest.mark.parametrize("size", [10, len(CONTENT) + 1])
def test_a_wrong_size_is_seen_before_anything_is_downloaded(cache: Cache, size: int) -> None:
    with serving(answer(200, b"y" * size)) as server:
        sentence = refusal(cache, described(server.url("train.txt")))
        assert f"it has {size} bytes there, {len(CONTENT)} in the manifest" in sentence
        assert len(server.seen) == 1
    assert leftovers(cache) == []


def test_a_body_without_end_is_cut_off(cache: Cache) -> None:
    with serving(endless()) as server:
        assert "it has more bytes there" in refusal(cache, described(server.url("train.txt")))
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
    address = f"127.0.0.1:{closed_port()}"
    sentence = refusal(cache, described(f"http://{address}/train.txt"))
    assert sentence == f"train.txt cannot be had from {address}: the server cannot be reached."


def test_a_server_that_falls_silent_is_given_up(cache: Cache) -> None:
    with serving(stalled(CONTENT, 10)) as server:
        assert "the server stopped sending" in refusal(cache, described(server.url("train.txt")))


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/a", "http://[::1/a"])
def test_a_redirect_to_anything_but_the_web_is_refused(cache: Cache, target: str) -> None:
    with serving(redirect(target)) as server:
        assert "which is no http or https URL" in refusal(cache, described(server.url("train.txt")))


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
        assert "cannot be had" in refusal(cache, described(server.url("train.txt"), content))
        assert len(server.seen) <= 5


def test_the_token_goes_to_the_manifest_s_own_origin_alone(cache: Cache) -> None:
    with serving(ranged(CONTENT)) as mirror, serving(redirect(mirror.url("train.txt"))) as home:
        origin = home.url("manifest.json")
        fetcher(cache, token="secret", origin=origin).fetch([described(home.url("train.txt"))])
        assert [request.get("authorization") for request in home.seen] == ["Bearer secret"]
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
        client = Client(None, None, timeouts=(30, 30))
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


def test_too_little_space_is_seen_before_the_download(cache: Cache) -> None:
    huge = File(url="http://127.0.0.1:9/huge", sha256="0" * 64, size=1 << 40)
    cache.cap = 1 << 50
    assert refusal(cache, huge).startswith("The disk is full: 1024.0 GiB are needed in")


def put(cache: Cache, content: bytes, used: float) -> File:
    file = described("http://127.0.0.1:9/", content)
    path = cache.folder / file.sha256
    path.write_bytes(content)
    os.utime(path, (used, used))
    return file


def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    writer = Cache(tmp_path, GIB)
    old, older, new = (put(writer, text * 1000, used) for text, used in ((b"a", 20), (b"b", 10), (b"c", 30)))
    (tmp_path / "somebody's own file").write_bytes(b"stays" * 1000)
    writer.cap = 3500
    writer.make_room(1000)
    writer.close()
    reader = Cache(tmp_path, GIB)
    assert [bool(reader.find(file)) for file in (old, older, new)] == [True, False, True]
    assert (tmp_path / "somebody's own file").exists()
    reader.close()


def test_what_cannot_fit_under_the_cap_is_one_sentence(cache: Cache) -> None:
    cache.cap = 1000
    sentence = refusal(cache, described("http://127.0.0.1:9/train.txt"))
    assert sentence == "The data needs 0.6 MiB of cache, but cache_size allows 0.0 MiB."


def hold(
    folder: Path, file: File, ready: "multiprocessing.synchronize.Event", end: "multiprocessing.synchronize.Event"
) -> None:
    other = Cache(folder, GIB)
    assert other.find(file)
    ready.set()
    end.wait(30)


def test_what_another_process_uses_stays_until_that_process_dies(cache: Cache) -> None:
    file = put(cache, b"x" * 1000, used=1)
    context = multiprocessing.get_context("spawn")
    ready, end = context.Event(), context.Event()
    other = context.Process(target=hold, args=(cache.folder, file, ready, end))
    other.start()
    try:
        assert ready.wait(30)
        cache.cap = 0
        cache.trim()
        assert leftovers(cache) == [file.sha256]
    finally:
        other.kill()
        other.join()
    cache.trim()
    assert leftovers(cache) == []
    assert len(list(cache.folder.glob("*.lease"))) == 1


def test_two_fetchers_of_one_file_download_it_once(tmp_path: Path) -> None:
    slow = threading.Event()

    def behave(handler: BaseHTTPRequestHandler) -> None:
        slow.wait(1)
        ranged(CONTENT)(handler)

    with serving(behave) as server:
        file = described(server.url("train.txt"))
        caches = [Cache(tmp_path, GIB), Cache(tmp_path, GIB)]
        paths: list[Path] = []
        threads = [threading.Thread(target=lambda c=c: paths.extend(fetcher(c).fetch([file]))) for c in caches]
        for thread in threads:
            thread.start()
        slow.set()
        for thread in threads:
            thread.join()
        for made in caches:
            made.close()
        assert [path.read_bytes() == CONTENT for path in paths] == [True, True]
        assert len(server.seen) == 1


@pytest.fixture
def shards(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{number}.txt" for number in range(3)]
    for number, path in enumerate(paths):
        lines = [f"{number}-{line} " + "é" * (line % 90) for line in range(500 + number)]
        path.write_text("\n".join(lines) + ("\n" if number else ""), encoding="utf-8")
    return paths


def test_every_pass_has_every_line_once_in_an_order_of_its_own(shards: list[Path]) -> None:
    per_pass = sum(1 for shard in shards for text in texts(shard) if text.strip())
    stream = text_stream(shards, seed=7)
    passes = [list(islice(stream, per_pass)) for _ in range(3)]
    everything = sorted(line for shard in shards for line in shard.read_text().splitlines())
    for one in passes:
        assert sorted(line for text in one for line in text.splitlines()) == everything
    assert passes[0] != passes[1] != passes[2]


def test_a_seed_decides_the_order(shards: list[Path]) -> None:
    first, again, other = (list(islice(text_stream(shards, seed), 50)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_line_longer_than_a_block_is_cut_between_characters(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("ü€😀" * 5000, encoding="utf-8")
    parts = list(texts(path, block=100))
    assert "".join(parts) == path.read_text()
    assert max(len(part.encode()) for part in parts) <= 104


@pytest.mark.parametrize("block", [4, 5, 7, 64, 5000])
def test_no_block_size_loses_or_repeats_a_byte(tmp_path: Path, block: int) -> None:
    path = tmp_path / "text.txt"
    path.write_text("\n\na\nbb\n\nccc ddd\n€uro\n" + "x" * 20 + "\nend", encoding="utf-8")
    assert "".join(texts(path, block)) == path.read_text()


def test_shards_without_text_are_told_instead_of_searched_for_ever(tmp_path: Path) -> None:
    (tmp_path / "blank.txt").write_text("\n \n" * 5000)
    with pytest.raises(WorldError, match="holds no text"):
        next(text_stream([tmp_path / "blank.txt"], seed=0))
    with pytest.raises(WorldError, match="holds no text"):
        next(text_stream([], seed=0))


def test_a_shard_that_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "here.txt").write_text("text\n")
    stream = text_stream([tmp_path / "here.txt"], seed=0)
    next(stream)
    (tmp_path / "here.txt").unlink()
    with pytest.raises(WorldError, match=r"here\.txt cannot be read: No such file"):
        next(stream)
