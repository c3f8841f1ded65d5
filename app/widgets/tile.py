"""One large figure with its unit and a caption."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout

from app.widgets import theme
from app.widgets.basic import Card, Label
from app.widgets.theme import Type

NOTHING = "–"
"""Shown for an unknown figure."""


class Tile(Card):
    """A heading, a large figure with a small unit, and a caption."""

    def __init__(self, heading: str) -> None:
        super().__init__(heading)
        self.figure = Label(NOTHING, Type.FIGURE)
        self.unit = Label("", Type.STRONG, "muted")
        self.caption = Label("", Type.CAPTION, "muted", wrap=True)
        self.caption.setMinimumHeight(2 * self.caption.fontMetrics().lineSpacing())
        row = QHBoxLayout()
        row.setSpacing(theme.UNIT)
        row.addWidget(self.figure, 0, Qt.AlignmentFlag.AlignBaseline)
        row.addWidget(self.unit, 1, Qt.AlignmentFlag.AlignBaseline)
        self.column.addLayout(row)
        self.column.addWidget(self.caption)
        self.column.addStretch(1)
        self._heading = heading

    def show_figure(self, figure: str, unit: str, caption: str) -> None:
        self.figure.setText(figure)
        self.unit.setText(unit)
        self.caption.setText(caption)
        self.setAccessibleName(f"{self._heading}: {figure} {unit} {caption}")
