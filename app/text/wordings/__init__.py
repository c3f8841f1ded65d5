"""What is said of each kind of message: a table for each area, held against the code by a test."""

from collections.abc import Callable

from app.text.wordings import fetching, models, storage

TABLES: tuple[Callable[[], dict[str, str]], ...] = (fetching.wordings, models.wordings, storage.wordings)
"""Called when a sentence is made: the language may have changed since."""
