"""Declarations, the values they allow, and what applies of several."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.api.errors import UsageError
from core.api.preferences.effective import effective_values, settings_of, stricter
from core.api.preferences.preferences import DEFAULTS, GENTLE, PREFERENCES, Preference, preference_named, restored
from core.api.preferences.value_types import Number, Switch, Type, Value
from core.api.preferences.week_text import NEVER
from core.api.session_settings import SessionSettings

RATE = Number("bytes/s", 0, 1000, 0, zero="unlimited", least=100)
chosen = st.fixed_dictionaries(
    {
        name: st.integers(each.type.lowest, each.type.highest)
        if isinstance(each.type, Number)
        else st.just(each.default)
        for name, each in PREFERENCES.items()
    }
)


@pytest.mark.parametrize("preference", PREFERENCES.values(), ids=lambda preference: preference.name)
def test_each_default_is_allowed(preference: Preference) -> None:
    assert preference.check(preference.default) == preference.default
    if isinstance(preference.type, Number) and preference.type.zero:
        assert preference.type.lowest == 0


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
def test_gentle_hours_never_allow_more(values: dict[str, Value]) -> None:
    always, gently = effective_values(values, gentle=False), effective_values(values, gentle=True)
    for preference in [preference for preference in PREFERENCES.values() if preference.is_limit]:
        name = preference.plain_name
        assert stricter(preference.type, always[name], gently[name]) == gently[name]


@pytest.mark.parametrize(("of", "strictest"), [(RATE, 500), (Switch(True), 0)])
def test_zero_is_the_lowest_value_unless_it_has_a_word(of: Type, strictest: int) -> None:
    assert {stricter(of, one, other) for one, other in product((0, 500), repeat=2) if one != other} == {strictest}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("upload_limit", 15_999),
        ("cache_size", 1 << 80),
        ("threads", -1),
        ("threads", True),
        ("threads", 1.0),
        ("threads", "1"),
        ("metered", 2),
        ("metered", 1.0),
        ("metered", None),
        ("currency", "XYZ"),
        ("currency", 978),
        ("display_name", "a" * 33),
        ("display_name", "turn\u202eround"),
        ("display_name", 7),
        ("programs", "steam"),
        ("programs", [7]),
        ("programs", ["/"]),
        ("programs", [f"game{number}" for number in range(65)]),
        ("week", "f"),
        ("week", None),
        ("colour", "red"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused(name: str, value: object) -> None:
    with pytest.raises(UsageError):
        preference_named(name).check(value)


@pytest.mark.parametrize(
    ("name", "given", "stored"),
    [
        ("upload_limit", 0, 0),
        ("metered", 1, True),
        ("display_name", " Ann  of the Hill", "Ann of the Hill"),
        ("programs", ["/usr/games/doom", "DOOM", "quake"], ("DOOM", "quake")),
        ("week", "f" * 335 + " .", "f" * 335 + "."),
    ],
)
def test_a_value_is_stored_in_its_tidy_form(name: str, given: object, stored: Value) -> None:
    assert preference_named(name).check(given) == stored


def test_of_a_stored_value_that_is_not_allowed_the_harmless_side_applies() -> None:
    assert restored("threads", 9999) == DEFAULTS["threads"]
    assert restored("week", "nonsense") == NEVER
