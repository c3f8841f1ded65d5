"""Each process that a session cannot do without is killed; the session ends at once and a new one comes."""

import time

import psutil
import pytest

from tests.end_to_end.machine import Machine

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


def parts(trainer: int) -> dict[str, psutil.Process]:
    """hivemind's processes by name, in the order in which a session begins them."""
    forked = sorted(psutil.Process(trainer).children(), key=lambda process: process.create_time())
    ours = [process for process in forked if "resource_tracker" not in " ".join(process.cmdline())]
    table, state, gradients, _batches = ours
    (daemon,) = table.children()
    return {
        "table of peers": table,
        "state averager": state,
        "gradient averager": gradients,
        "peer-to-peer daemon": daemon,
    }


@pytest.mark.parametrize("name", ["table of peers", "state averager", "gradient averager", "peer-to-peer daemon"])
def test_a_session_whose_part_is_killed_ends_at_once_and_a_new_one_comes(machine: Machine, name: str) -> None:
    ann = machine.profile("ann")
    ann.start("contribute", "practice")
    trainer = ann.until("contributing")["session"]["pid"]
    machine.members()
    begin = time.monotonic()
    parts(trainer)[name].kill()
    failed = ann.until("failed", 10.0)
    assert time.monotonic() - begin < 8.0
    # The table of peers takes its daemon along, and which of the two is missed first is chance.
    assert failed["error"].endswith(" was ended from outside.")
    if name.endswith("averager"):
        assert failed["error"] == f"The session's {name} was ended from outside."
    assert failed["retry_at"] is not None
    assert not psutil.pid_exists(trainer)
    assert ann.until("contributing")["session"]["pid"] != trainer
    assert ann.run("quit").returncode == 0
    machine.wait_until_nothing_is_left()
