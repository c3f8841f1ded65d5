"""What a project's model has learned so far, by an example: words that it writes, or pictures that it chose."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QLabel, QWidget

from app.projects.picture import opened
from app.text import tasks
from app.text.i18n import tr
from app.widgets import layouts, theme
from app.widgets.basic import Label
from app.widgets.theme import Type
from core.api.project.demonstration import Demonstration
from core.api.project.projects import Picture

_WIDEST, _HIGHEST = 360, 240


class Learned(QWidget):
    """Hidden while there is nothing to show."""

    def __init__(self) -> None:
        super().__init__()
        self._caption, self._text = Label("", Type.CAPTION, "muted", wrap=True), Label("", wrap=True)
        self._picture = QLabel()
        self._picture.setObjectName("demonstration")
        heading = Label(tr("What it has learned so far"), Type.CAPTION, "muted")
        layouts.column(heading, self._text, self._picture, self._caption, spacing=theme.UNIT, of=self)
        self.hide()

    def show_demonstration(self, shown: Demonstration | None) -> None:
        """None, or one that this version cannot show, hides it."""
        image = opened(Picture("png", shown.picture)) if shown and shown.picture else None
        caption, text = tasks.demonstration(shown) if shown else ("", "")
        self._caption.setText(caption)
        self._text.setText(text)
        self._text.setVisible(bool(text))
        self._picture.setVisible(image is not None)
        if image is not None:
            if image.width() > _WIDEST or image.height() > _HIGHEST:
                image = image.scaled(_WIDEST, _HIGHEST, Qt.AspectRatioMode.KeepAspectRatio)
            self._picture.setPixmap(QPixmap(image))
            self._picture.setAccessibleName(caption)
        self.setVisible(bool(text) or image is not None)
