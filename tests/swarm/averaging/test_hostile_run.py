"""A whole run with a trainer that sends what is not finite in every round: the others go on without it."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.network.peers.churn_peer import AUXILIARY
from tests.swarm.averaging.peers.small_peer import Peer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

EPOCHS = 6
"""That are made under attack."""


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_a_run_goes_on_while_one_trainer_sends_values_that_are_not_finite(
    short_folder: Path, opened: ExitStack
) -> None:
    attack = short_folder / "attack"
    auxiliary = Peer(short_folder, "auxiliary", AUXILIARY, listens=True)
    opened.callback(auxiliary.leave)
    honest = [Peer(short_folder, f"honest{number}", 0.05, auxiliary.address, listens=True) for number in range(2)]
    hostile = Peer(short_folder, "hostile", 0.05, auxiliary.address, listens=True, hostile_when=attack)
    for trainer in (*honest, hostile):
        opened.callback(trainer.leave)
    for trainer in (*honest, hostile):
        trainer.until(3)
    attack.touch()
    began = max(max(trainer.updates) for trainer in honest)
    for trainer in honest:
        trainer.until(began + EPOCHS, 60.0)
    last = min(max(trainer.updates) for trainer in honest)
    assert len({trainer.updates[last]["digest"] for trainer in honest}) == 1
    assert {trainer.updates[last]["group"] for trainer in honest} == {3}
    assert [event for trainer in honest for event in trainer.events if "failure" in event] == []
