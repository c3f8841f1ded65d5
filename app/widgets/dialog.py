"""Small dialogs in the style of the program. They never block: call `open()` and connect to `finished`."""

from PySide6.QtWidgets import QDialog, QMessageBox, QWidget

from app.text.i18n import tr
from app.widgets import icons, layouts, theme
from app.widgets.basic import Button, Notice


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


class FormDialog(QDialog):
    """Parts to fill in, what is wrong with them, and two buttons. It deletes itself when closed."""

    def __init__(self, parent: QWidget, title: str, *parts: layouts.Part, width: int) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.finished.connect(self.deleteLater)
        self.problem = Notice("problem-frame")
        self.accept_button = Button(title, "primary", self.submit)
        self.accept_button.setDefault(True)
        cancel = Button(tr("Cancel"), "secondary", self.reject)
        buttons = layouts.row(None, cancel, self.accept_button, spacing=theme.UNIT * 2)
        column = layouts.column(*parts, self.problem, buttons, spacing=theme.UNIT * 3, of=self)
        column.setContentsMargins(*[theme.UNIT * 6] * 4)
        self.setMinimumWidth(width)

    def submit(self) -> None:
        """Called by the first button: accepts what was filled in, or shows what is wrong."""
