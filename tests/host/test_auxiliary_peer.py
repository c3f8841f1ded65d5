"""The run's state on its way from a checkpoint to a newcomer, between real peers."""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.host.peers.restarted_backbone import LATER
from tests.host.peers.state_peers import EPOCH


def printed_by(module: str) -> Any:
    folder = Path(tempfile.mkdtemp(prefix="hive"))
    subreaper = [sys.executable, "-m", "core.system.subreaper", str(folder / "subreaper"), "--"]
    try:
        run = subprocess.run(
            [*subreaper, sys.executable, "-m", module, str(folder)],
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        print(run.stderr)
        return json.loads(run.stdout)
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def outcome() -> Any:
    return printed_by("tests.host.peers.state_peers")


def test_a_newcomer_gets_the_run_from_a_backbone_that_resumed_from_its_checkpoint(outcome: Any) -> None:
    assert outcome["epochs"] == [0, EPOCH]
    assert outcome["same"]


def test_the_evaluated_model_has_the_parameters_of_the_state(outcome: Any) -> None:
    assert outcome["evaluated"]


def test_a_state_with_wrong_numbers_or_shapes_is_refused_and_changes_nothing(outcome: Any) -> None:
    assert outcome["poisoned"] == "state_not_finite"
    assert outcome["other model"] == "state_of_other_model"
    assert outcome["unharmed"]


def test_a_backbone_that_comes_back_takes_neither_fresh_parameters_nor_those_of_another_chain() -> None:
    assert printed_by("tests.host.peers.restarted_backbone") == {
        "fresh, with most votes": EPOCH,
        "of another chain": EPOCH,
        "the run's": LATER,
    }


def test_a_run_that_gets_worse_at_once_goes_back_to_the_last_checkpoint_and_the_others_follow() -> None:
    assert printed_by("tests.host.peers.spoilt_run") == {
        "kept": [[EPOCH], [EPOCH]],
        "jump": [LATER, EPOCH],
        "epochs": [LATER + 3, LATER + 3],
        "good again": [True, True],
        "kept again": LATER + 3,
    }
