"""Values of preferences as they are written and read, by type."""

from typing import Any

import pytest

from app.text.typed import values
from core.api.errors import UsageError
from core.api.preferences.preferences import PREFERENCES, Preference
from core.api.preferences.week_text import preset_cells


@pytest.mark.parametrize("preference", PREFERENCES.values(), ids=lambda preference: preference.name)
def test_every_default_reads_back_as_it_is_written(preference: Preference) -> None:
    assert values.parse(values.write(preference.default, preference.type), preference.type) == preference.default
    assert values.allowed(preference.type)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("metered", "on", True),
        ("metered", "No", False),
        ("metered", "1", True),
        ("currency", "eur", "EUR"),
        ("currency", "not set", ""),
        ("display_name", " Ann of the Hill ", "Ann of the Hill"),
        ("programs", "/usr/bin/blender, steam", ("blender", "steam")),
        ("programs", "none", ()),
        ("week", "nights", preset_cells("nights")),
    ],
)
def test_a_value_is_read_by_its_type(name: str, text: str, value: Any) -> None:
    assert values.parse(text, PREFERENCES[name].type) == value


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("metered", "maybe", "value_unclear"),
        ("currency", "XYZ", "value_not_offered"),
        ("programs", "/", "program_name_invalid"),
    ],
)
def test_what_cannot_be_read_is_refused(name: str, text: str, kind: str) -> None:
    with pytest.raises(UsageError) as refused:
        values.parse(text, PREFERENCES[name].type)
    assert refused.value.message.kind == kind
