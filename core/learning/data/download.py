"""Downloads one file over HTTP, with resumption.

Servers are not trusted: the manifest's size and SHA-256 decide.
"""

import errno
import hashlib
import logging
import os
import re
from collections.abc import Callable, Sequence
from threading import Event
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

import requests
import urllib3

from core.api.errors import WorldError
from core.api.message import Message
from core.api.project.fields import File
from core.api.project.plain_json import printable
from core.system import web
from core.system.reach import Reach, origin_of

log = logging.getLogger(__name__)

WAITS = (1.0, 2.0, 4.0, 8.0)
"""Seconds between tries; after the last one a failure is reported."""
TIMEOUTS = (10.0, 30.0)
"""Timeouts in seconds: to connect, and between two bytes."""
_CHUNK = 1 << 18
_ENOUGH_TO_TRY_ON = 1 << 20
_TRY_LATER = frozenset((408, 425, 429, 500, 502, 503, 504))


class StoppedError(Exception):
    """The stop event was set; the partial download stays for the next time."""


class UselessError(WorldError):
    """The download is not the file and must be deleted."""


class _CutError(WorldError):
    """This try failed; another may succeed."""


def read_chunk(response: requests.Response, size: int) -> bytes:
    """At most `size` bytes, as soon as there are any."""
    chunk: bytes = response.raw.read1(size, decode_content=False)
    return chunk


Read = Callable[[requests.Response, int], bytes]


class Client:
    """GET requests of one manifest's files.

    The access token is sent only to `origin`, the URL that the manifest was read from, because a manifest may name any
    server within `reach`. `read` reads bodies and may wait to limit the bandwidth.
    """

    def __init__(
        self,
        token: str | None,
        origin: str | None,
        reach: Reach,
        timeouts: tuple[float, float] = TIMEOUTS,
        read: Read = read_chunk,
    ) -> None:
        self.read = read
        self._token, self._origin, self._timeouts = token, origin and origin_of(origin), timeouts
        self._reach = reach

    def get(self, url: str, offset: int) -> requests.Response:
        """The response to a request for the bytes from `offset` on, its body still to be read.

        Raises:
            requests.RequestException: no answer.
            WorldError: a wrong redirection, or one to a private address that is not the project's.
        """

        def ask(url: str) -> requests.Response:
            # For the headers; a body may take longer, as long as bytes arrive.
            with web.Deadline(sum(self._timeouts)) as deadline:
                return web.ask(url, self._reach, deadline, self._timeouts, self._headers(url, offset))

        return web.follow(url, ask)

    def _headers(self, url: str, offset: int) -> dict[str, str]:
        headers = {}
        if offset:
            headers["Range"] = f"bytes={offset}-"
        if self._token and origin_of(url) == self._origin:
            headers["Authorization"] = f"Bearer {self._token}"
        return headers


class Download:
    """Downloads a file into `content`, which may already have its beginning. `size` is its present length in bytes."""

    def __init__(self, file: File, content: BinaryIO, client: Client, stop: Event, waits: Sequence[float]) -> None:
        self.file = file
        self._content, self._client, self._stop, self._waits = content, client, stop, waits
        self._digest = hashlib.sha256()
        self.size = 0
        content.seek(0)
        while chunk := content.read(_CHUNK):
            self._digest.update(chunk)
            self.size += len(chunk)
        self._farthest = self.size
        self._resumed = self.size > 0

    def complete(self) -> None:
        """Download the missing bytes and verify the file.

        Raises:
            StoppedError: the stop event was set.
            UselessError: `content` is not the beginning of the file.
            WorldError: the server cannot be reached or does not have it.
        """
        self._get_all()
        if self._resumed and not self._verified():
            # The beginning may belong to an older version of the file.
            self._restart()
            self._get_all()
        if not self._verified():
            raise UselessError(self._failure(Message("wrong_digest")))
        self._write(b"", flush=True)

    def _verified(self) -> bool:
        return self.size == self.file.size and self._digest.hexdigest() == self.file.sha256

    def _get_all(self) -> None:
        waits = iter(self._waits)
        while self.size < self.file.size:
            try:
                self._get_some()
            except (_CutError, web.ProxyFailed, requests.RequestException, urllib3.exceptions.HTTPError) as error:
                # Progress allows new tries; repeated bytes do not count, so that a download always ends.
                if self.size - self._farthest >= _ENOUGH_TO_TRY_ON:
                    waits, self._farthest = iter(self._waits), self.size
                seconds = next(waits, None)
                if seconds is None:
                    raise WorldError(self._failure(_cause(error))) from None
                log.info("%s: trying again in %g s", self._failure(_cause(error)), seconds)
                if self._stop.wait(seconds):
                    raise StoppedError from None

    def _get_some(self) -> None:
        with self._client.get(self.file.url, self.size) as response:
            self._check_status(response)
            if self._start_of(response) != self.size:
                self._restart()
            self._check_length(response)
            while self.size < self.file.size:
                # One byte more than missing shows that the body is too long.
                chunk = self._client.read(response, min(_CHUNK, self.file.size - self.size + 1))
                if self._stop.is_set():
                    raise StoppedError
                if not chunk:
                    raise _CutError("connection_cut")
                if self.size + len(chunk) > self.file.size:
                    raise UselessError(self._failure(Message("larger_than_manifest", {"expected": self.file.size})))
                self._write(chunk)

    def _check_status(self, response: requests.Response) -> None:
        status = response.status_code
        if status == 416:
            self._restart()
            raise _CutError("resume_refused")
        if status in _TRY_LATER:
            raise _CutError("server_busy", status=status)
        if status in (401, 403):
            raise WorldError(self._failure(Message("access_refused", {"status": status})))
        if status not in (200, 206):
            raise WorldError(self._failure(Message("file_not_found", {"status": status})))

    def _start_of(self, response: requests.Response) -> int:
        """Offset of the body's first byte in the file; a server may ignore the range."""
        if response.status_code == 200:
            return 0
        match = re.fullmatch(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)", response.headers.get("Content-Range", ""))
        if not match or int(match[1]) != self.size:
            self._restart()
            raise _CutError("wrong_range")
        if match[2] not in ("*", str(self.file.size)):
            raise self._wrong_size(int(match[2]))
        self._resumed = self._resumed or self.size > 0
        return self.size

    def _check_length(self, response: requests.Response) -> None:
        length = response.headers.get("Content-Length", "")
        if re.fullmatch(r"\d{1,18}", length) and int(length) != self.file.size - self.size:
            raise self._wrong_size(self.size + int(length))

    def _restart(self) -> None:
        self._content.seek(0)
        self._content.truncate()
        self._digest, self.size, self._resumed = hashlib.sha256(), 0, False

    def _write(self, chunk: bytes, flush: bool = False) -> None:
        try:
            rest = memoryview(chunk)
            while rest:
                rest = rest[self._content.write(rest) :]
            if flush:
                os.fsync(self._content.fileno())
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            cause = Message("no_space") if full else Message("not_writable", {"detail": error.strerror})
            raise UselessError(self._failure(cause)) from None
        self._digest.update(chunk)
        self.size += len(chunk)

    def _wrong_size(self, found: int) -> UselessError:
        return UselessError(self._failure(Message("wrong_size", {"found": found, "expected": self.file.size})))

    def _failure(self, cause: Message) -> Message:
        parts = urlsplit(self.file.url)
        name = printable(unquote(parts.path).rpartition("/")[2])
        return Message("file_not_fetched", {"name": name, "host": printable(parts.netloc), "cause": cause})


def _cause(error: Exception) -> Message:
    match error:
        case _CutError() | web.ProxyFailed():
            return error.message
        case requests.exceptions.InvalidURL():
            return Message("url_not_usable")
        case requests.exceptions.SSLError():
            return Message("connection_not_secure")
        case requests.exceptions.ConnectTimeout() | requests.exceptions.ReadTimeout():
            return Message("server_too_slow")
        case urllib3.exceptions.ReadTimeoutError():
            return Message("server_stalled")
        case urllib3.exceptions.HTTPError():
            return Message("connection_cut")
        case _:
            return Message("server_not_reached")
