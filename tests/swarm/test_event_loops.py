"""Messages to the processes of averagers and of the DHT."""

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import pytest

from tests.swarm.averaging.peers.member import Member
from tests.swarm.installed import installed

Answers = Callable[[Member], bool]
Order = tuple[str, list[Any], dict[str, Any]]

PROCESSES: dict[str, tuple[Callable[[Member], Any], Order, Answers]] = {
    "averager": (
        lambda member: member.averager,
        ("_drop_rounds", [], {}),
        lambda member: bool(member.begin().cancel()),
    ),
    "DHT": (
        lambda member: member.dht,
        ("_get", [], {"key": "a", "latest": True, "future": None}),
        lambda member: member.dht.get("b", latest=True) is None,
    ),
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("process", PROCESSES)
def test_a_process_to_which_a_message_comes_in_parts_reads_the_next_one_too(short_folder: Path, process: str) -> None:
    of, order, answers = PROCESSES[process]
    with installed(short_folder), ExitStack() as opened:
        member = Member(short_folder, 1.0, [], opened)
        pipe, message = of(member)._outer_pipe.fileno(), bytes(ForkingPickler.dumps(order))
        for part in (len(message).to_bytes(4, "big"), message[:5], message[5:]):
            os.write(pipe, part)
            time.sleep(0.3)  # the other process looks for the rest
        assert answers(member)
