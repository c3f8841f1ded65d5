"""The cache under its cap: what is kept, what goes first, and what two processes do with one file."""

import multiprocessing
import os
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from core.api.errors import WorldError
from core.api.project.fields import File
from core.system.cache import Cache
from tests.fakes.http_server import ranged, serving
from tests.learning.fetching import CONTENT, GIB, described, fetcher, leftovers, refusal


def test_too_little_space_is_seen_before_the_download(cache: Cache) -> None:
    huge = File(url="http://127.0.0.1:9/huge", sha256="0" * 64, size=1 << 40)
    cache.cap = 1 << 50
    assert refusal(cache, huge).startswith("The disk is full: 1.1 TB are needed in")


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
    assert sentence == "The data needs 649 kB of cache, but your limit allows 1.0 kB."


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
        with pytest.raises(WorldError, match=r"cache_too_small .*allowed=0"):
            cache.make_room(0)
        assert leftovers(cache) == [file.sha256]
    finally:
        other.kill()
        other.join()
    cache.make_room(0)
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
