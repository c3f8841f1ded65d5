"""Links and files that the desktop opens."""

from pathlib import Path

import pytest

from app.desktop.links import project_in


@pytest.mark.parametrize(
    ("named", "source"),
    [
        ("idlehive:https://example.org/bees.json", "https://example.org/bees.json"),
        ("idlehive:https%3A%2F%2Fexample.org%2Fbees.json", "https://example.org/bees.json"),
        ("idlehive://example.org/bees.json", "https://example.org/bees.json"),
        ("https://example.org/bees.json", "https://example.org/bees.json"),
        ("file:///home/me/a%20project.idlehive", "/home/me/a project.idlehive"),
        ("bees.idlehive", str(Path("bees.idlehive").absolute())),
        # Not addresses, says urlsplit by an exception.
        ("idlehive:http://[", ""),
        ("file://[", ""),
        ("http://[", str(Path("http://[").absolute())),
        # A link comes from anywhere: no files, no other schemes, nothing that is hidden.
        ("idlehive:/etc/passwd", ""),
        ("idlehive:file:///etc/passwd", ""),
        ("idlehive:javascript:alert(1)", ""),
        ("idlehive:https://example.org/%0Afile", ""),
        ("idlehive:https://example.org/" + "x" * 3000, ""),
    ],
)
def test_a_link_names_an_address_and_nothing_else(named: str, source: str) -> None:
    assert project_in(["open", named]) == source


def test_without_open_there_is_no_project() -> None:
    assert project_in([]) == ""
    assert project_in(["--in-tray"]) == ""
    assert project_in(["open"]) == ""
