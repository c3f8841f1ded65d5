from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.api.errors import UsageError
from core.api.preferences.preferences import (
    GENTLE,
    PREFERENCES,
    Page,
    Preference,
    Unit,
    effective_values,
    settings_of,
)
from core.api.session_settings import SessionSettings

DEFAULTS = {name: preference.default for name, preference in PREFERENCES.items()}
RATE = Preference("rate", "bytes/s", 0, 1 << 40, 0, page="network", zero="unlimited")
SWITCH = Preference("switch", "switch", 0, 1, 1, page="gpu")
chosen = st.fixed_dictionaries({name: st.integers(p.lowest, p.highest) for name, p in PREFERENCES.items()})


@pytest.mark.parametrize("preference", PREFERENCES.values(), ids=lambda preference: preference.name)
def test_each_preference_has_a_default_in_its_range_a_unit_and_a_page(preference: Preference) -> None:
    assert preference.check(preference.default) == preference.default
    assert preference.unit in get_args(Unit)
    assert preference.page in get_args(Page)
    assert not preference.zero or preference.lowest == 0


def test_every_limit_of_the_trainer_is_a_preference_with_the_same_default() -> None:
    assert settings_of(effective_values(DEFAULTS, gentle=False)) == SessionSettings()


def test_a_limit_for_gentle_hours_follows_the_one_it_belongs_to() -> None:
    names = list(PREFERENCES)
    for name in names:
        if name.startswith(GENTLE):
            assert names[names.index(name) - 1] == PREFERENCES[name].plain_name
            assert PREFERENCES[name].page == PREFERENCES[PREFERENCES[name].plain_name].page


@pytest.mark.parametrize(
    ("every_hour", "gentle", "effective"),
    [(0, 1, 1), (4, 1, 1), (2, 3, 2), (2, 0, 2), (0, 0, 0)],
)
def test_in_gentle_hours_the_stricter_of_both_limits_counts(every_hour: int, gentle: int, effective: int) -> None:
    values = {**DEFAULTS, "threads": every_hour, "gentle.threads": gentle}
    assert effective_values(values, gentle=True)["threads"] == effective
    assert effective_values(values, gentle=False)["threads"] == every_hour


@given(chosen)
def test_gentle_hours_never_allow_more(values: dict[str, int]) -> None:
    always, gently = effective_values(values, gentle=False), effective_values(values, gentle=True)
    for preference in [preference for preference in PREFERENCES.values() if preference.is_limit]:
        name = preference.plain_name
        assert preference.stricter(always[name], gently[name]) == gently[name]


@pytest.mark.parametrize(("preference", "strictest"), [(RATE, 5), (SWITCH, 0)])
def test_zero_is_the_lowest_value_unless_it_has_a_word(preference: Preference, strictest: int) -> None:
    results = {preference.stricter(one, other) for one, other in product((0, 5), repeat=2) if one != other}
    assert results == {strictest}


@pytest.mark.parametrize(("value", "is_allowed"), [(0, True), (1, False), (99, False), (100, True)])
def test_a_ceiling_that_would_stop_everything_is_refused(value: int, is_allowed: bool) -> None:
    preference = Preference("rate", "bytes/s", 0, 1000, 0, page="network", zero="unlimited", least=100)
    if is_allowed:
        assert preference.check(value) == value
    else:
        with pytest.raises(UsageError, match="preference_too_small name=rate unit=bytes/s least=100 highest=1000"):
            preference.check(value)


@pytest.mark.parametrize("value", [-1, 2, True, "1", 1.0, None, 1 << 80])
def test_a_wrong_value_is_told_with_the_range(value: object) -> None:
    with pytest.raises(UsageError, match="preference_out_of_range name=switch unit=switch lowest=0 highest=1"):
        SWITCH.check(value)


def test_a_ceiling_that_would_stop_everything_is_refused_but_none_is_allowed() -> None:
    ceiling = PREFERENCES["upload_limit"]
    assert ceiling.check(0) == 0
    assert ceiling.check(16_000) == 16_000
    with pytest.raises(UsageError, match="preference_too_small name=upload_limit unit=bytes/s least=16000"):
        ceiling.check(15_999)
