"""A running engine, and a world of the test's own."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.client.profile import Profile
from tests.engine.projects.organiser import Organiser
from tests.engine.world import WEEK, Scenario, a_world
from tests.fakes.running_engine import RunningEngine
from tests.fakes.scripted_host import CURVE


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[RunningEngine]:
    """Not started yet, so that a test may prepare the profile and the scripts."""
    profile = Profile(tmp_path / "home")
    running = RunningEngine(profile, tmp_path)
    yield running
    running.clean_up()


@pytest.fixture
def organiser() -> Iterator[Organiser]:
    pages = Organiser({"curve.json": json.dumps(CURVE).encode()})
    yield pages
    pages.shutdown()
    pages.server_close()


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Scenario, str], None]:
    """Runs a scenario with a week of its own."""

    def run(scenario: Scenario, week: str = WEEK) -> None:
        async def whole() -> None:
            async with a_world(tmp_path, monkeypatch, week) as world:
                await scenario(world)

        asyncio.run(whole())

    return run
