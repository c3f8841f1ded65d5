"""The words of each kind of message: a table an area, by kind. A test compares them with the code that sends them."""

from collections.abc import Callable

from app.text.wordings import (
    engine,
    fetching,
    hosting,
    learning,
    manifest,
    models,
    preferences,
    projects,
    sensors,
    session,
    storage,
)

TABLES: tuple[Callable[[], dict[str, str]], ...] = (
    engine.wordings,
    fetching.wordings,
    hosting.wordings,
    learning.wordings,
    manifest.wordings,
    models.wordings,
    preferences.wordings,
    projects.wordings,
    sensors.wordings,
    session.wordings,
    storage.wordings,
)
"""Called when a sentence is made: the language may have changed since."""
