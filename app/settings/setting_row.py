"""A line of the settings page: a name, what it means, and the control at its right."""

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.widgets import theme
from app.widgets.basic import Label
from app.widgets.theme import Type


class SettingRow(QWidget):
    """`control` receives the name and the meaning for screen readers."""

    def __init__(self, name: str, meaning: str, control: QWidget) -> None:
        super().__init__()
        control.setAccessibleName(name)
        control.setAccessibleDescription(meaning)
        self.meaning = Label(meaning, Type.CAPTION, "muted", wrap=True)
        words = QVBoxLayout()
        words.setSpacing(theme.UNIT // 2)
        words.addWidget(Label(name, Type.STRONG, wrap=True))
        words.addWidget(self.meaning)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.UNIT * 6)
        row.addLayout(words, 1)
        row.addWidget(control)
