"""hivemind patched in the tests' own process, as a session patches it in its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.swarm.patches import install, patches
from core.swarm.traffic.link import Link

SILENCE = 6.0
"""Seconds; that of the practice project."""


@contextmanager
def installed(session_folder: Path, silence: float = SILENCE) -> Iterator[Link]:
    """The link of this process's peers. Afterwards hivemind is as it was."""
    link = Link()
    with pytest.MonkeyPatch.context() as monkeypatch:
        for owner, name, _replacement in patches(session_folder, link, silence):
            # What it is now is put back at the end.
            monkeypatch.setattr(owner, name, vars(owner)[name])
        install(session_folder, link, silence=silence)
        yield link
