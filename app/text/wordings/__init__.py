"""A sentence for each kind of message, in one table for each area. A test compares them with the code."""

from collections import ChainMap

from app.text.wordings import (
    commands,
    engine,
    hosting,
    installation,
    learning,
    machines,
    manifest,
    preferences,
    projects,
    reasons,
    session,
    storage,
)

_AREAS = (
    commands,
    engine,
    hosting,
    installation,
    learning,
    machines,
    manifest,
    preferences,
    projects,
    reasons,
    session,
    storage,
)
WORDINGS: ChainMap[str, str] = ChainMap(*(area.WORDINGS for area in _AREAS))
"""Templates in English, by kind."""
