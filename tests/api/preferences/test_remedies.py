"""Which preference a failure or a reason is about, and when a change of it lifts a failure."""

import pytest

from core.api.message import Message
from core.api.preferences.preferences import DEFAULTS, PREFERENCES
from core.api.preferences.remedies import REMEDIES, is_lifted, remedy
from core.api.reasons import Kind, Reason

OVER = Message("memory_over_limit", {"held": 3 << 30, "allowed": 2 << 30})


def test_every_remedy_is_a_preference() -> None:
    assert set(REMEDIES.values()) <= PREFERENCES.keys()


def test_the_remedy_of_a_reason_is_that_of_the_failure_inside() -> None:
    again = Message("failed_repeatedly", {"failure": OVER, "times": 4})
    assert remedy(Reason(Kind.GAVE_UP, False, {"failure": again})) == "memory_limit"
    assert remedy(Reason(Kind.PAUSED, True)) is None


@pytest.mark.parametrize(
    ("before", "after", "lifted"),
    [(2 << 30, 4 << 30, True), (4 << 30, 2 << 30, False), (2 << 30, 0, True), (0, 4 << 30, True), (0, 0, False)],
)
def test_a_failure_is_lifted_by_a_limit_that_allows_more(before: int, after: int, lifted: bool) -> None:
    chosen = [{**DEFAULTS, "memory_limit": value} for value in (before, after)]
    assert is_lifted(OVER, *chosen) is lifted
    assert not is_lifted(Message("memory_full"), *chosen)
