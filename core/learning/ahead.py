"""Prepares the next batch while the last one is computed."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")

_preparing = ThreadPoolExecutor(1, "next batch")


class Ahead(Iterator[Item]):
    """The same items, each of them made on another thread while the one before it is in use."""

    def __init__(self, items: Iterator[Item]) -> None:
        self._items = items
        self._next: Future[Item] | None = None

    def __next__(self) -> Item:
        item = self.last()
        self.prepare()
        return item

    def last(self) -> Item:
        """The next item, after which probably none is wanted."""
        item = next(self._items) if self._next is None else self._next.result()
        self._next = None
        return item

    def prepare(self) -> None:
        """Begin to make the next item, if nothing did."""
        if self._next is None:
            self._next = _preparing.submit(next, self._items)
