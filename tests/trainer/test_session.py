"""What a session does when a command asks it to stop computing."""

from dataclasses import fields
from typing import Any
from unittest.mock import Mock

import pytest

from core.system import freed_memory
from core.trainer.microbatch import Stopped
from core.trainer.session import Session


@pytest.fixture
def session() -> Session:
    parts: dict[str, Any] = {field.name: Mock() for field in fields(Session)}
    parts["control"].wait_while_held.return_value = False
    parts["control"].settings = parts["applied"]
    parts["run"].has_lost_its_port = parts["optimizer"].is_banned = False
    return Session(**parts)


def test_a_pause_gives_back_the_memory_that_a_microbatch_took(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back = Mock()
    monkeypatch.setattr(freed_memory, "give_back", given_back)
    session._hold()
    given_back.assert_called_once()


def test_a_microbatch_that_was_given_up_counts_nowhere(session: Session) -> None:
    parts: Any = session
    parts.control.held = False
    parts.control.leaving.is_set.side_effect = [False, True]
    parts.microbatches.compute.side_effect = Stopped
    session.contribute()
    parts.measurements.counters.add_microbatch.assert_not_called()
    parts.optimizer.step_with.assert_not_called()
    parts.optimizer.end_round.assert_called_once()
