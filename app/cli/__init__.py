"""The command line: another client of the same engine. One file a group of verbs; `main` is the console script."""

from app.cli.main import main

__all__ = ["main"]
