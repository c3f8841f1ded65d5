"""Engine and trainer may be killed at any moment: nothing is lost beyond what was not written yet."""

import random
from pathlib import Path

import pytest

from tests.fakes.kills import Kills
from tests.fakes.running_engine import RunningEngine


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_ten_kills_at_random_moments_cost_nothing(engine: RunningEngine, tmp_path: Path) -> None:
    kills = Kills(engine, tmp_path, seed=7)
    moments = random.Random(7)
    kills.begin()
    victims = {kills.kill(moments.uniform(0.1, 2.0)) for _ in range(10)}
    assert victims == {"engine", "trainer", "both"}


@pytest.mark.slow
def test_a_session_that_is_killed_late_has_lost_ten_seconds_at_most(engine: RunningEngine, tmp_path: Path) -> None:
    kills = Kills(engine, tmp_path, seed=3)
    kills.begin()
    while kills.kill(14.0) == "trainer":
        pass
    assert kills.lost <= 10.0
