"""Rows, columns and tables, each in one expression."""

from collections.abc import Iterable
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

from app.widgets import theme

Item = QWidget | QLayout
Part = Item | tuple[Item, int] | tuple[QWidget, Qt.AlignmentFlag] | int | None
"""A widget or layout, alone or with its stretch or alignment; pixels of space; None: space that stretches."""

Box = TypeVar("Box", bound=QBoxLayout)


def row(*parts: Part, spacing: int | None = None, of: QWidget | None = None) -> QHBoxLayout:
    """Parts side by side. `spacing` is the style's by default; `of` is a widget that the row fills."""
    return _filled(QHBoxLayout(), parts, spacing, of)


def column(*parts: Part, spacing: int | None = None, of: QWidget | None = None) -> QVBoxLayout:
    """Parts below each other, as in `row`."""
    return _filled(QVBoxLayout(), parts, spacing, of)


def table(rows: Iterable[tuple[QWidget, QWidget]], spacing: int) -> QGridLayout:
    """Names, and beside each its value."""
    made = grid(spacing, theme.UNIT, 0, 1)
    for number, (name, value) in enumerate(rows):
        made.addWidget(name, number, 0, Qt.AlignmentFlag.AlignTop)
        made.addWidget(value, number, 1)
    return made


def grid(across: int, down: int, *stretches: int, of: QWidget | None = None) -> QGridLayout:
    """Rows and columns with these spaces between them, and the stretch of each column; `of` as in `row`."""
    made = QGridLayout(of)
    made.setContentsMargins(0, 0, 0, 0)
    made.setHorizontalSpacing(across)
    made.setVerticalSpacing(down)
    for column, stretch in enumerate(stretches):
        made.setColumnStretch(column, stretch)
    return made


def add(box: QBoxLayout, *parts: Part) -> None:
    """Append parts."""
    item: Item | int | None
    for part in parts:
        place: int | Qt.AlignmentFlag = 0
        if isinstance(part, tuple):
            item, place = part
        else:
            item = part
        if item is None:
            box.addStretch(1)
        elif isinstance(item, int):
            box.addSpacing(item)
        elif isinstance(item, QLayout):
            box.addLayout(item, place)
        elif isinstance(place, Qt.AlignmentFlag):
            box.addWidget(item, 0, place)
        else:
            box.addWidget(item, place)


def keep_place(widget: QWidget) -> None:
    """Leave its place free while it is hidden, so that nothing else moves when it comes and goes."""
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    widget.setSizePolicy(policy)


def clear(box: QLayout) -> None:
    """Remove and delete every widget."""
    while item := box.takeAt(0):
        if widget := item.widget():
            widget.hide()
            widget.deleteLater()


def _filled(box: Box, parts: Iterable[Part], spacing: int | None, of: QWidget | None) -> Box:
    if of is not None:
        of.setLayout(box)
        box.setContentsMargins(0, 0, 0, 0)
    if spacing is not None:
        box.setSpacing(spacing)
    add(box, *parts)
    return box
