"""What applies of a limit, and what is named as the cause."""

import pytest

from core.api.preferences.effective import effective_on_gpu, effective_values
from core.api.preferences.preferences import DEFAULTS
from core.api.preferences.schedule import Level
from core.api.preferences.value_types import Value
from core.engine.decision.preference_info import preference_info


def told(name: str, level: Level = Level.FULL, card: int | None = None, **chosen: int) -> tuple[Value, str | None]:
    """(in force, why); `card` is the one that is computed on, and `gpu1_share` stands for `gpu1.share`."""
    values = {**DEFAULTS} | {_name(key): value for key, value in chosen.items()}
    effective = effective_values(values, gentle=level is Level.GENTLE)
    if card is not None:
        effective = effective_on_gpu(effective, card)
    info = preference_info(name, values, effective, level)
    return info.effective, info.why


def _name(key: str) -> str:
    return key.replace("_", ".", 1) if key[:3] == "gpu" and key[3].isdigit() else key.replace("gentle_", "gentle.", 1)


def test_what_nothing_restricts_needs_no_reason() -> None:
    assert told("gpu_share") == (80, None)


def test_gentle_hours_are_the_cause_in_gentle_hours() -> None:
    assert told("gpu_share", Level.GENTLE, card=0) == (40, "gentle hours")
    assert told("threads", Level.GENTLE) == (1, "gentle hours")


@pytest.mark.parametrize("level", [Level.FULL, Level.GENTLE])
def test_the_limit_of_one_card_is_the_cause_where_it_is_the_lower_one(level: Level) -> None:
    assert told("gpu_share", level, card=1, gpu1_share=20) == (20, "gpu1.share is lower")


def test_a_card_with_a_limit_that_is_not_used_is_no_cause() -> None:
    assert told("gpu_share", card=0, gpu1_share=20) == (80, None)


def test_in_gentle_hours_a_card_with_a_higher_limit_of_its_own_is_not_named() -> None:
    assert told("gpu_share", Level.GENTLE, card=1, gpu1_share=60) == (40, "gentle hours")


def test_of_the_limit_for_one_card_the_one_for_all_cards_is_the_cause() -> None:
    assert told("gpu1.share", card=1, gpu1_share=90) == (80, "gpu_share is lower")
    assert told("gpu1.share", Level.GENTLE, card=1, gpu1_share=90) == (40, "gentle hours")
    assert told("gpu1.share", card=1, gpu1_share=30) == (30, None)


def test_of_a_limit_for_gentle_hours_the_one_for_all_hours_is_the_cause() -> None:
    assert told("gentle.processor_share", processor_share=20) == (20, "processor_share is lower")
    assert told("gentle.processor_share", processor_share=80) == (50, None)
