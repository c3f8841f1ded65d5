"""Fetches a project's files into the cache."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import BinaryIO

from core.api.errors import os_errors_as
from core.api.project.fields import File
from core.learning.data.download import WAITS, Client, Download, StoppedError, UselessError
from core.learning.data.source import size_of
from core.system.cache import Cache
from core.system.file_lock import try_lock

Progress = Callable[[int, int], None]
"""Bytes done, bytes in all."""


class Fetcher:
    """Fetches files into a cache, one at a time."""

    def __init__(self, cache: Cache, client: Client, stop: Event, waits: Sequence[float] = WAITS) -> None:
        self._cache, self._client, self._stop, self._waits = cache, client, stop, waits
        self._before = 0
        self._download: Download | None = None

    def fetch(self, files: Sequence[File], progress: Progress | None = None) -> list[Path]:
        """The local paths of `files`, in their order; downloads what is missing. `progress` is called on this thread.

        Raises:
            StoppedError: within a fifth of a second after the stop event, whatever the network does.
            WorldError: a file cannot be fetched.
        """
        result: Future[list[Path]] = Future()
        # On a thread, because a hanging connection cannot be stopped.
        Thread(target=self._run, args=(files, result), name="fetch", daemon=True).start()
        total = sum(file.size for file in files)
        while not wait([result], timeout=0.1).done:
            if self._stop.is_set():
                raise StoppedError
            if progress:
                progress(self._done(), total)
        return result.result()

    def _done(self) -> int:
        download = self._download
        return self._before + (download.size if download else 0)

    def _run(self, files: Sequence[File], result: Future[list[Path]]) -> None:
        try:
            result.set_result(self._obtain_all(files))
        except BaseException as error:  # noqa: BLE001 - it is raised again on the caller's thread
            result.set_exception(error)

    def _obtain_all(self, files: Sequence[File]) -> list[Path]:
        missing = [file for file in files if not self._cache.find(file)]
        self._cache.make_room(sum(file.size - size_of(self._cache.part(file)) for file in missing))
        paths, self._before = [], 0
        for file in files:
            paths.append(self._obtain(file))
            self._before += file.size
        return paths

    def _obtain(self, file: File) -> Path:
        while not (path := self._cache.find(file)):
            with _exclusive(self._cache.part(file)) as content:
                # Again, because another process may have finished it before the lock was taken.
                if content and not self._cache.find(file):
                    return self._downloaded(file, content)
            if self._stop.wait(0.2):
                raise StoppedError
        return path

    def _downloaded(self, file: File, content: BinaryIO) -> Path:
        try:
            self._download = Download(file, content, self._client, self._stop, self._waits)
            self._download.complete()
            return self._cache.add(file)
        except UselessError:
            self._cache.part(file).unlink(missing_ok=True)
            raise
        finally:
            self._download = None


@contextmanager
def _exclusive(part: Path) -> Iterator[BinaryIO | None]:
    """The partial file, open for reading and appending; None if another process has it locked or has finished it."""
    with os_errors_as("shard_not_writable", path=str(part)):
        content = part.open("a+b", buffering=0)
    with content:
        locked = try_lock(content.fileno())
        same = locked and part.exists() and os.path.samestat(part.stat(), os.fstat(content.fileno()))
        yield content if same else None
