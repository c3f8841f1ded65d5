"""What the list of projects shows: a search, and all, the joined or the fitting ones."""

from collections.abc import Callable

from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLineEdit, QWidget

from app.text.i18n import tr
from app.text.projects import ListFilter, filter_name
from app.widgets import theme
from app.widgets.basic import Button
from app.widgets.theme import Type


class ProjectFilter(QWidget):
    """`changed` is called with every letter and click."""

    def __init__(self, changed: Callable[[], None]) -> None:
        super().__init__()
        self.search = QLineEdit()
        self.search.setFont(theme.font(Type.TEXT))
        self.search.setPlaceholderText(tr("Search projects"))
        self.search.setAccessibleName(tr("Search projects"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(lambda _: changed())
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.UNIT * 2)
        row.addWidget(self.search, 1)
        group = QButtonGroup(self)
        self.buttons: dict[ListFilter, Button] = {}
        for which in ListFilter:
            button = self.buttons[which] = Button(filter_name(which), "preset")
            button.setCheckable(True)
            button.setChecked(which is ListFilter.ALL)
            button.toggled.connect(lambda on: changed() if on else None)
            group.addButton(button)
            row.addWidget(button)

    @property
    def which(self) -> ListFilter:
        return next(which for which, button in self.buttons.items() if button.isChecked())

    @property
    def text(self) -> str:
        return self.search.text()
