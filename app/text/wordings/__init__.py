"""What is said of each kind of message: a table for each area, held against the code by a test."""

from collections.abc import Callable

from app.text.wordings import engine, fetching, learning, manifest, models, preferences, projects, storage

TABLES: tuple[Callable[[], dict[str, str]], ...] = tuple(
    area.wordings for area in (engine, fetching, learning, manifest, models, preferences, projects, storage)
)
"""Called when a sentence is made: the language may have changed since."""
