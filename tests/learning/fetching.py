"""A file as a manifest describes it, and how the tests fetch it."""

import hashlib
import threading

import pytest

from app.text.messages import sentence
from core.api.errors import WorldError
from core.api.project.fields import File
from core.learning.data.download import Client
from core.learning.data.fetch import Fetcher
from core.system.cache import Cache
from tests.app.spaces import GROUP, SPACE
from tests.fakes.http_server import LOOPBACK

CONTENT = b"".join(b"line %d\n" % number for number in range(60_000))
GIB = 1 << 30


def described(url: str, content: bytes = CONTENT) -> File:
    return File(url=url, sha256=hashlib.sha256(content).hexdigest(), size=len(content))


def fetcher(cache: Cache, stop: threading.Event | None = None, **options: str) -> Fetcher:
    client = Client(options.get("token"), options.get("origin"), LOOPBACK, timeouts=(2, 0.5))
    return Fetcher(cache, client, stop or threading.Event(), waits=(0.01, 0.01))


def refusal(cache: Cache, file: File) -> str:
    """The sentence that the volunteer reads."""
    with pytest.raises(WorldError) as caught:
        fetcher(cache).fetch([file])
    said = sentence(caught.value.message)
    assert "\n" not in said
    return said.replace(SPACE, " ").replace(GROUP, ",")


def leftovers(cache: Cache) -> list[str]:
    return [path.name for path in cache.folder.iterdir() if path.suffix != ".lease" and path.name != ".lock"]
