"""A small dialog in the style of the program. It never blocks: call `open()` and connect to `finished`."""

from PySide6.QtWidgets import QMessageBox, QWidget

from app.widgets import icons
from app.widgets.basic import Button


class MessageDialog(QMessageBox):
    """A text, an explanation and buttons. It deletes itself when closed."""

    def __init__(self, parent: QWidget, title: str, text: str, explanation: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setText(text)
        self.setInformativeText(explanation)
        self.setIconPixmap(icons.logo_picture(48, parent.devicePixelRatioF()))
        self.finished.connect(self.deleteLater)

    def offer(self, text: str, meaning: QMessageBox.ButtonRole, look: str = "secondary") -> Button:
        button = Button(text, look)
        # The box does not own its buttons, so Python would collect this one.
        button.setParent(self)
        self.addButton(button, meaning)
        return button
