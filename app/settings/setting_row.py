"""A line of the settings page: a name, what it means, and the control at its right."""

from PySide6.QtWidgets import QWidget

from app.widgets import layouts, theme
from app.widgets.basic import Label
from app.widgets.theme import Type


class SettingRow(QWidget):
    """`control` receives the name and the meaning for screen readers."""

    def __init__(self, name: str, meaning: str, control: QWidget) -> None:
        super().__init__()
        control.setAccessibleName(name)
        control.setAccessibleDescription(meaning)
        self.meaning = Label(meaning, Type.CAPTION, "muted", wrap=True)
        words = layouts.column(Label(name, Type.STRONG, wrap=True), self.meaning, spacing=theme.UNIT // 2)
        layouts.row((words, 1), control, spacing=theme.UNIT * 6, of=self)
