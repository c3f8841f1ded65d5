"""What the list of projects shows: a search, and all, the joined or the fitting ones."""

from collections.abc import Callable

from PySide6.QtWidgets import QButtonGroup, QWidget

from app.text.i18n import tr
from app.text.projects import ListFilter, filter_name
from app.widgets import layouts, theme
from app.widgets.basic import SearchField, ToggleButton


class ProjectFilter(QWidget):
    """`changed` is called with every letter and click."""

    def __init__(self, changed: Callable[[], None]) -> None:
        super().__init__()
        self.search = SearchField(changed, tr("Search projects"))
        self.buttons = {which: ToggleButton(filter_name(which)) for which in ListFilter}
        self.buttons[ListFilter.ALL].setChecked(True)
        group = QButtonGroup(self)
        for button in self.buttons.values():
            button.toggled.connect(lambda on: changed() if on else None)
            group.addButton(button)
        layouts.row((self.search, 1), *self.buttons.values(), spacing=theme.UNIT * 2, of=self)

    def show_all(self) -> None:
        self.search.clear()
        self.buttons[ListFilter.ALL].setChecked(True)

    @property
    def which(self) -> ListFilter:
        return next(which for which, button in self.buttons.items() if button.isChecked())
