"""`idlehive contribute` where it has to start the engine, and to end it."""

import sys
from collections.abc import Callable, Iterator
from functools import partial

import psutil
import pytest

from app.cli import contribute, main
from core.client.engine_client import ensure_engine
from core.client.profile import Profile

ENGINE = """
import os
from core.client.profile import Profile
from core.api.snapshot import Snapshot
from tests.fakes.scripted_engine import Script, run
snapshots = Snapshot(state="idle", engine_pid=os.getpid(), borrowings=(1,)), Snapshot(state="idle", goals=(1,))
run(Script(snapshots=snapshots, replies={'Contribute': 1}), Profile.from_environment())
"""
REFUSING = ENGINE.replace("replies={'Contribute': 1}", "refusals={'Contribute': 'There is no such project.'}")


@pytest.fixture
def own_engine(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Has `contribute` start a given program as its engine; the test fails if it has not ended soon afterwards."""

    def use(code: str) -> None:
        start = partial(ensure_engine, command=[sys.executable, "-c", code])
        monkeypatch.setattr(contribute, "ensure_engine", start)

    before = set(psutil.Process().children())
    yield use
    # What psutil calls children here are the engines: detached, but started by this process.
    left = set(psutil.Process().children()) - before
    _, alive = psutil.wait_procs(left, timeout=5)
    for process in alive:
        process.kill()
    assert not alive


def test_an_engine_that_it_started_is_ended(
    profile: Profile, own_engine: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    own_engine(ENGINE)
    assert not profile.socket.exists()
    assert main(["contribute", "--for", "1s"]) == 0
    assert "Nothing was given this time." in capsys.readouterr().out


def test_an_engine_that_it_started_is_ended_after_a_refusal(
    profile: Profile, own_engine: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    own_engine(REFUSING)
    assert main(["contribute", "bees"]) == 2
    assert "There is no such project." in capsys.readouterr().err
