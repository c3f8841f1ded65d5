"""Portions of the data: a session begins with one, and changes without waiting."""

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from itertools import count
from pathlib import Path
from random import Random

import pytest

from core.api.errors import WorldError
from core.api.project.data import JsonLinesData, Mixture, Part, TextData, portions_of
from core.api.project.fields import File
from core.api.session import Hold, Leave, Resume
from core.api.session_settings import SessionSettings
from core.learning.data import training_samples
from core.learning.data.download import StoppedError
from core.learning.data.rotation import EPOCHS, SECONDS, Rotation
from core.system.cache import Cache
from core.trainer.control import Control
from core.trainer.preparation import wait_until_resumed
from tests.fakes.http_server import ranged, serving
from tests.learning.fetching import fetcher
from tests.waiting import wait_for

MB = 1 << 20


def shard(number: int, size: int = 17 * MB) -> File:
    """Its content is its number again and again; the size is what the manifest says."""
    return File(f"{number}", hashlib.sha256(bytes([number])).hexdigest(), size)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    opened = Cache(tmp_path / "cache", 1 << 40)
    yield opened
    opened.close()


def hours() -> Callable[[], float]:
    """A clock that is an hour later each time: only the epochs count."""
    return count(0.0, SECONDS).__next__


class Server:
    """Writes files into a cache as a fetcher would."""

    def __init__(self, cache: Cache) -> None:
        self.cache, self.fetched, self.free, self.fails = cache, list[str](), threading.Event(), False
        self.free.set()

    def fetch(self, files: Sequence[File]) -> None:
        assert self.free.wait(10)
        if self.fails:
            raise WorldError("server_not_reached")
        for file in files:
            self.fetched.append(file.url)
            self.cache.path(file).write_text(f"{file.url}\n" * 50)
            self.cache._lease_entry(file.sha256)


def test_small_data_are_one_portion_and_large_shards_one_each() -> None:
    assert portions_of([shard(0, 1), shard(1, MB), shard(2, MB)]) == ((0, 1, 2),)
    assert portions_of([shard(0), shard(1), shard(2)]) == ((0,), (1,), (2,))
    assert portions_of([shard(number, 9 * MB) for number in range(5)]) == ((0, 1), (2, 3, 4))
    assert portions_of([shard(0, 1)]) == ((0,),)


def test_a_portion_of_a_mixture_has_one_of_each_part() -> None:
    first = TextData((shard(0), shard(1), shard(2)))
    mixture = Mixture((Part(1.0, first), Part(1.0, JsonLinesData((shard(3, MB), shard(4, MB))))))
    assert mixture.portions == ((0, 3, 4), (1, 3, 4), (2, 3, 4))


def test_samples_are_only_of_the_portion(tmp_path: Path) -> None:
    declared = TextData((shard(0), shard(1)), block=256)
    paths = [tmp_path / "0", tmp_path / "1"]
    paths[1].write_text("1\n" * 5000)  # the other one is not there
    samples = training_samples(declared, paths, 5, 1)
    assert {next(samples)[0] for _ in range(100)} == {"1"}
    assert next(training_samples(declared, paths, 5, 3))[0] == "1", "whatever a peer calls it"


def test_the_next_portion_is_fetched_while_one_is_in_use_and_the_last_is_released(cache: Cache) -> None:
    declared, server = TextData((shard(0), shard(1), shard(2))), Server(cache)
    server.fetch([declared.shards[1]])
    rotation = Rotation(declared, cache, server.fetch, Random(0), clock=hours())
    assert rotation.number == 1, "the portion that is there"
    server.free.clear()
    assert {rotation.at(epoch) for epoch in range(100, 100 + 2 * EPOCHS)} == {1}, "nobody waits"
    server.free.set()
    wait_for(lambda: rotation.has(2), 10, "the next portion")
    wait_for(lambda: rotation.at(100 + 2 * EPOCHS) == 2, 10, "the change")
    assert server.fetched == ["1", "2"]
    cache.cap = 150
    cache.make_room(0)
    assert not rotation.has(1), "the ceiling counts more than what was used"
    assert rotation.has(2)


def test_a_volunteer_fetches_one_portion_an_hour_however_short_the_epochs_are(cache: Cache) -> None:
    declared, server, now = TextData((shard(0), shard(1), shard(2))), Server(cache), 50.0
    server.fetch([declared.shards[0]])
    rotation = Rotation(declared, cache, server.fetch, Random(0), clock=lambda: now)
    assert rotation.at(0) == 0
    now += SECONDS / 2 - 1
    assert rotation.at(500) == 0
    assert rotation._asked is None, "nothing is fetched before it is needed"
    now += 1
    assert rotation.at(501) == 0
    wait_for(lambda: rotation.has(1), 10, "the next portion")
    wait_for(lambda: not rotation._asked.is_alive(), 10, "the end of the download")  # type: ignore[union-attr]
    now += SECONDS / 2 - 1
    assert rotation.at(1000) == 0
    now += 1
    assert rotation.at(1001) == 1
    now += SECONDS / 2 - 1
    assert rotation.at(2000) == 1
    assert server.fetched == ["0", "1"]


def test_without_the_next_portion_a_peer_goes_on_with_its_own_and_tries_later(cache: Cache) -> None:
    declared, server = TextData((shard(0), shard(1))), Server(cache)
    server.fetch([declared.shards[0]])
    rotation = Rotation(declared, cache, server.fetch, Random(0), clock=hours())
    server.fails = True
    assert {rotation.at(epoch) for epoch in range(10 * EPOCHS)} == {0}
    server.fails = False
    epochs = count(11 * EPOCHS, EPOCHS // 2)
    wait_for(lambda: rotation.at(next(epochs)) == 1, 10, "a change")


def test_a_volunteer_who_has_nothing_begins_anywhere(cache: Cache) -> None:
    declared = TextData((shard(0), shard(1), shard(2)))
    begins = {Rotation(declared, cache, print, Random(seed)).number for seed in range(20)}
    assert begins == {0, 1, 2}


def test_learning_begins_with_the_first_shard_and_the_next_one_comes_later(cache: Cache) -> None:
    contents = [f"{number} {'x' * 62}\n".encode() * (17 * MB // 65 + 1) for number in range(3)]
    files = {hashlib.sha256(content).hexdigest(): content for content in contents}

    def serve(handler: BaseHTTPRequestHandler) -> None:
        ranged(files[handler.path[1:]])(handler)

    with serving(serve) as server:
        shards = tuple(File(server.url(digest), digest, len(content)) for digest, content in files.items())
        declared = TextData(shards)
        rotation = Rotation(declared, cache, fetcher(cache).fetch, Random(2), clock=hours())
        first = declared.portions[rotation.number]
        fetcher(cache).fetch([shards[number] for number in first])
        assert len(server.seen) == 1
        samples = training_samples(declared, rotation.paths, 1, rotation.at(7))
        assert next(samples)[0] == str(first[0])
        for epoch in range(7, 7 + EPOCHS):
            rotation.at(epoch)
        wait_for(lambda: rotation.at(7 + EPOCHS) != first[0], 20, "the change")
        assert next(training_samples(declared, rotation.paths, 1, rotation.number))[0] == str((first[0] + 1) % 3)
        assert len(server.seen) == 2


def test_a_session_on_hold_does_not_unpack_and_one_that_leaves_stops(tmp_path: Path) -> None:
    from tests.learning.data.test_unpacking import LINES, packed

    cache, control = Cache(tmp_path / "cache", 1 << 40), Control(BytesIO(), SessionSettings())
    try:
        declared = TextData((shard(0), shard(1)), compression="zstd")
        for each in declared.shards:
            packed(cache.folder, LINES.encode() * 20, "zstd", each.sha256)
        rotation = Rotation(declared, cache, print, Random(0), yielding=partial(wait_until_resumed, control))
        control._apply(Hold())
        with ThreadPoolExecutor(1) as background:
            work = background.submit(rotation.make_ready, 0)
            assert not wait([work], timeout=1).done, "some milliseconds of work"
            assert not list(cache.folder.glob("*.unpacked*"))
            control._apply(Resume())
            work.result(10)
            assert rotation.has(0)
            control._apply(Hold())
            work = background.submit(rotation.make_ready, 1)
            control._apply(Leave())
            with pytest.raises(StoppedError):
                work.result(10)
        assert not rotation.has(1)
        assert len(list(cache.folder.glob("*.unpacked*"))) == 2, "the whole portion and its size"
    finally:
        cache.close()


def test_a_portion_that_unpacks_is_made_ready_within_the_ceiling(tmp_path: Path) -> None:
    from tests.learning.data.test_unpacking import LINES, packed

    cache = Cache(tmp_path / "cache", 100_000)
    try:
        declared = TextData((shard(0),), compression="zstd")
        packed(cache.folder, LINES.encode(), "zstd", declared.shards[0].sha256)
        rotation = Rotation(declared, cache, print, Random(0))
        cache._lease_entry(declared.shards[0].sha256)
        with pytest.raises(WorldError, match="cache_too_small"):
            rotation.make_ready(0)
        assert not rotation.has(0), "nobody reads what would have to be unpacked first"
        cache.cap = 10_000_000
        rotation.make_ready(0)
        assert rotation.has(0)
        assert next(training_samples(declared, rotation.paths, 1)).startswith("line")
    finally:
        cache.close()
