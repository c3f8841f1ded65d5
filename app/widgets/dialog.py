"""A small dialog in the program's own look. It never blocks: `open()` it and connect to `finished`."""

from PySide6.QtWidgets import QMessageBox, QWidget

from app.widgets import icons
from app.widgets.basic import Button


class MessageDialog(QMessageBox):
    """A text, a line that explains it, and the buttons that are offered. It deletes itself when closed."""

    def __init__(self, parent: QWidget, title: str, text: str, explanation: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setText(text)
        self.setInformativeText(explanation)
        self.setIconPixmap(icons.logo_picture(48, parent.devicePixelRatioF()))
        self.finished.connect(self.deleteLater)

    def offer(self, text: str, meaning: QMessageBox.ButtonRole, look: str = "secondary") -> Button:
        """One more button."""
        button = Button(text, look)
        # Python would collect it otherwise: the box does not own what it is given.
        button.setParent(self)
        self.addButton(button, meaning)
        return button
