"""Batches are prepared while others are computed."""

import threading
from collections.abc import Iterator

import pytest

from core.learning.ahead import Ahead


def test_the_items_are_the_same_in_the_same_order() -> None:
    assert list(Ahead(iter(range(5)))) == [0, 1, 2, 3, 4]


def test_the_next_item_is_made_while_this_one_is_in_use() -> None:
    made = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        made.set()
        yield 2

    ahead = Ahead(items())
    assert next(ahead) == 1
    assert made.wait(10.0)
    assert next(ahead) == 2


def test_an_error_comes_where_the_item_would() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError("unreadable")

    ahead = Ahead(items())
    assert next(ahead) == 1
    with pytest.raises(OSError, match="unreadable"):
        next(ahead)
