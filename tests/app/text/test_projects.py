"""What a volunteer reads about a project before joining."""

import msgspec
import pytest

from app.text import projects
from tests.app.projects.listed import DETAILS


@pytest.mark.parametrize(
    ("later", "said"),
    [
        (0, "310\N{NO-BREAK SPACE}MB"),
        (
            20_000_000,
            "310\N{NO-BREAK SPACE}MB to begin with, then up to 20.0\N{NO-BREAK SPACE}MB an hour",
        ),
    ],
)
def test_the_download_is_told_with_what_comes_later(later: int, said: str) -> None:
    rows = dict(projects.rows(msgspec.structs.replace(DETAILS, hourly_download=later)))
    assert rows["To download"] == said
