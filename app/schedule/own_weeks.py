"""The weeks that the volunteer has saved under names of their own: a menu to choose, save and remove them."""

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QInputDialog, QMenu

from app.desktop.window_settings import Settings
from app.text.i18n import tr
from app.widgets import verbatim
from app.widgets.basic import Button

_LONGEST_NAME = 30


class OwnWeeks(Button):
    """`cells` is the present week, `choose` sets another one."""

    def __init__(self, settings: Settings, cells: Callable[[], str | None], choose: Callable[[str], None]) -> None:
        super().__init__(tr("My weeks"), "menu")
        self._settings, self._cells, self._choose = settings, cells, choose
        self.setMenu(QMenu(self))
        self.menu().aboutToShow.connect(self.fill)

    def fill(self) -> None:
        """Make the menu of the weeks that there are."""
        menu, weeks = self.menu(), self._settings.weeks
        menu.clear()
        for name, cells in weeks.items():
            action = menu.addAction(verbatim.in_menu(name), partial(self._choose, cells))
            action.setCheckable(True)
            action.setChecked(cells == self._cells())
        menu.addSeparator()
        menu.addAction(tr("Save this week…"), self._ask_for_name)
        if weeks:
            removal = menu.addMenu(tr("Remove"))
            for name in weeks:
                removal.addAction(verbatim.in_menu(name), partial(self._remove, name))

    def save(self, name: str) -> None:
        """Keep the present week; another one of this name is replaced."""
        name, cells = name.strip()[:_LONGEST_NAME], self._cells()
        if name and cells:
            self._settings.weeks = {**self._settings.weeks, name: cells}

    def _remove(self, name: str) -> None:
        self._settings.weeks = {other: cells for other, cells in self._settings.weeks.items() if other != name}

    def _ask_for_name(self) -> None:
        dialog = QInputDialog(self)
        dialog.setWindowTitle(tr("Save this week"))
        dialog.setLabelText(tr("Its name"))
        dialog.textValueSelected.connect(self.save)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
