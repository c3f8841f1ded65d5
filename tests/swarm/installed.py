"""hivemind patched in the tests' own process, as a session patches it in its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.swarm.patches import install, patches
from core.swarm.traffic.link import Link


@contextmanager
def installed(session_folder: Path) -> Iterator[Link]:
    """The link of this process's peers. Afterwards hivemind is as it was."""
    link = Link()
    with pytest.MonkeyPatch.context() as monkeypatch:
        for owner, name, _replacement in patches(session_folder, link):
            # What it is now is put back at the end.
            monkeypatch.setattr(owner, name, vars(owner)[name])
        install(session_folder, link)
        yield link
