"""What is said of each kind of message: a table for each area, held against the code by a test."""

from collections.abc import Callable

from app.text.wordings import storage

TABLES: tuple[Callable[[], dict[str, str]], ...] = (storage.wordings,)
"""Called when a sentence is made: the language may have changed since."""
