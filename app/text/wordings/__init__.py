"""What each kind of message says: a table for each area, held against the code by a test."""

from collections import ChainMap

from app.text.wordings import (
    commands,
    engine,
    hosting,
    learning,
    manifest,
    preferences,
    projects,
    sensors,
    session,
    storage,
)

WORDINGS = ChainMap(
    commands.WORDINGS,
    engine.WORDINGS,
    hosting.WORDINGS,
    learning.WORDINGS,
    manifest.WORDINGS,
    preferences.WORDINGS,
    projects.WORDINGS,
    sensors.WORDINGS,
    session.WORDINGS,
    storage.WORDINGS,
)
"""Templates in English, by kind."""
