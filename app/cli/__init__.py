"""The command line: another client of the same engine. One file a group of verbs; `main` is the console script."""

import gc

gc.disable()  # Nothing that loads becomes garbage, and looking for some would take a tenth of a short command.

import core.api  # noqa: E402, F401 - before msgspec is imported
from app.cli.main import main  # noqa: E402

gc.enable()

__all__ = ["main"]
