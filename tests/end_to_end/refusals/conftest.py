import pytest

from core.api.message import Message
from core.api.session import Counters
from core.api.snapshot import Traffic
from core.store.store import Store
from tests.end_to_end.machine import Machine, Participant
from tests.end_to_end.refusals.refusals import RUN_AT


@pytest.fixture
def ann(machine: Machine) -> Participant:
    """A volunteer with a membership, a preference and a history."""
    volunteer = machine.profile("ann")
    assert volunteer.run("projects", "join", "practice").returncode == 0
    assert volunteer.run("limits", "set", "cache_size", "3GiB").returncode == 0
    store = Store(volunteer.home.database)
    store.journal.begin("practice", "practice-1", RUN_AT)
    store.journal.add(Counters(samples=64, seconds=10.0), Traffic(1000, 2000), RUN_AT + 10)
    store.journal.end(Message("done"), RUN_AT + 20)
    store.close()
    return volunteer
