"""Which value of a limit applies, and which cause is named."""

import pytest

from core.api.message import Message
from core.api.preferences.effective import effective_on_gpu, effective_values
from core.api.preferences.preferences import DEFAULTS
from core.api.preferences.schedule import Level
from core.api.preferences.value_types import Value
from core.engine.decision.preference_info import GENTLE_HOURS, preference_info


def applying(
    name: str, level: Level = Level.FULL, card: int | None = None, **chosen: int
) -> tuple[Value, Message | None]:
    """The value that applies, and why; `card` is the one in use, and `gpu1_share` stands for `gpu1.share`."""
    values = {**DEFAULTS} | {_name(key): value for key, value in chosen.items()}
    effective = effective_values(values, gentle=level is Level.GENTLE)
    if card is not None:
        effective = effective_on_gpu(effective, card)
    info = preference_info(name, values, effective, level)
    return info.effective, info.why


def _name(key: str) -> str:
    return key.replace("_", ".", 1) if key[:3] == "gpu" and key[3].isdigit() else key.replace("gentle_", "gentle.", 1)


def test_what_nothing_restricts_needs_no_reason() -> None:
    assert applying("gpu_share") == (80, None)


def test_gentle_hours_are_the_cause_in_gentle_hours() -> None:
    assert applying("gpu_share", Level.GENTLE, card=0) == (40, GENTLE_HOURS)
    assert applying("threads", Level.GENTLE) == (1, GENTLE_HOURS)


@pytest.mark.parametrize("level", [Level.FULL, Level.GENTLE])
def test_the_limit_of_one_card_is_the_cause_where_it_is_the_lower_one(level: Level) -> None:
    assert applying("gpu_share", level, card=1, gpu1_share=20) == (20, Message("gpu_limit_lower", {"number": 1}))


def test_a_card_with_a_limit_that_is_not_used_is_no_cause() -> None:
    assert applying("gpu_share", card=0, gpu1_share=20) == (80, None)


def test_in_gentle_hours_a_card_with_a_higher_limit_of_its_own_is_not_named() -> None:
    assert applying("gpu_share", Level.GENTLE, card=1, gpu1_share=60) == (40, GENTLE_HOURS)


def test_of_the_limit_for_one_card_the_one_for_all_cards_is_the_cause() -> None:
    assert applying("gpu1.share", card=1, gpu1_share=90) == (80, Message("limit_lower", {"name": "gpu_share"}))
    assert applying("gpu1.share", Level.GENTLE, card=1, gpu1_share=90) == (40, GENTLE_HOURS)
    assert applying("gpu1.share", card=1, gpu1_share=30) == (30, None)


def test_of_a_limit_for_gentle_hours_the_one_for_all_hours_is_the_cause() -> None:
    lower = Message("limit_lower", {"name": "processor_share"})
    assert applying("gentle.processor_share", processor_share=20) == (20, lower)
    assert applying("gentle.processor_share", processor_share=80) == (50, None)
