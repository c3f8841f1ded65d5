"""What the tests of the home page look at."""

from typing import TypeVar

from PySide6.QtWidgets import QWidget

from app.widgets.basic import Label

Part = TypeVar("Part", bound=QWidget)


def part(page: QWidget, kind: type[Part]) -> Part:
    found = page.findChild(kind)
    assert found is not None
    return found


def texts(page: QWidget) -> str:
    """All that can be read on it, one label a line."""
    return "\n".join(label.text() for label in page.findChildren(Label) if label.isVisible())
