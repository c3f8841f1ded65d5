"""A line of text that is one value."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit

from app.widgets import theme
from app.widgets.theme import Type

_FRAME = 20
"""Pixels of frame and padding at both sides, by the style sheet."""


class Entry(QLineEdit):
    """Asks when Return is pressed or the focus goes; Escape gives up. Text that is being typed is left alone.

    It has room for `width` figures, and for `longest` whatever the font.
    """

    def __init__(
        self, typed: Callable[[str], None], put_back: Callable[[], None], width: int = 10, longest: str = ""
    ) -> None:
        super().__init__()
        self._typed = typed
        self._put_back = put_back
        # In this order: a style sheet puts back the font that a widget has when it is first applied.
        self.setFont(theme.font(Type.TEXT))
        theme.set_role(self, "value")
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        advance = self.fontMetrics().horizontalAdvance
        self.setFixedWidth(max(width * advance("0"), advance(longest)) + _FRAME)
        self.editingFinished.connect(self._commit)

    def show_text(self, text: str) -> None:
        if not self.isModified() and text != self.text():
            self.setText(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.isModified():
            self.setModified(False)
            self._put_back()
        else:
            super().keyPressEvent(event)

    def _commit(self) -> None:
        if self.isModified():
            self.setModified(False)
            self._typed(self.text())
