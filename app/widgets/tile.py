"""One large figure with its unit and a caption."""

from PySide6.QtCore import Qt

from app.widgets import layouts, theme
from app.widgets.basic import Card, Label
from app.widgets.theme import Type

NOTHING = "–"
"""Shown for an unknown figure."""


class Tile(Card):
    def __init__(self, heading: str) -> None:
        super().__init__(heading)
        self.figure = Label(NOTHING, Type.FIGURE)
        self.unit = Label("", Type.STRONG, "muted")
        self.caption = Label("", Type.CAPTION, "muted", wrap=True)
        self.caption.setMinimumHeight(2 * self.caption.fontMetrics().lineSpacing())
        baseline = Qt.AlignmentFlag.AlignBaseline
        self.add(layouts.row((self.figure, baseline), (self.unit, baseline), None, spacing=theme.UNIT))
        self.add(self.caption, None)
        self._heading = heading

    def show_figure(self, figure: str, unit: str, caption: str, is_old: bool = False) -> None:
        """`is_old`: known from before, and grey."""
        self.figure.setText(figure)
        theme.set_role(self.figure, "muted" if is_old else "text")
        self.unit.setText(unit)
        self.caption.setText(caption)
        self.setAccessibleName(f"{self._heading}: {figure} {unit} {caption}")
