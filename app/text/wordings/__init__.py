"""What is said of each kind of message: a table for each area, held against the code by a test."""

from collections.abc import Callable

from app.text.wordings import (
    commands,
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
    commands.wordings,
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
