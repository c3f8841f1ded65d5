"""Which machine the window shows: this computer, or another one of the volunteer's."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QMenu, QWidget

from app.text.i18n import tr
from app.text.messages import sentence
from app.widgets import painting, theme
from app.widgets.basic import Button, Field, Label
from app.widgets.dialog import FormDialog
from core.api.errors import IdlehiveError, UsageError
from core.api.machines import Machine
from core.client.machines import Machines
from core.client.profile import Profile

_AROUND = 31
"""Pixels of padding and arrow."""
Show = Callable[[Machine | None], None]


class MachineSwitcher(Button):
    """A menu of the machines. `show` shows one of them; None is this computer."""

    def __init__(self, profile: Profile, shown: Machine | None, show: Show) -> None:
        super().__init__(_name(shown), "machine", self._open)
        self.setAccessibleName(tr("Machine: {name}", name=_name(shown)))
        self.setToolTip(tr("Machine: {name}", name=_name(shown)))
        self._machines, self._shown, self._show = Machines(profile), shown, show
        self.menu_of_machines = QMenu(self)
        self.menu_of_machines.aboutToShow.connect(self.fill)

    def named(self, name: str) -> Machine | None:
        """None: there is none of that name."""
        return next((machine for machine in self._known() if machine.name == name), None)

    def fill(self) -> None:
        """This computer first; what can be done with the list last."""
        menu = self.menu_of_machines
        menu.clear()
        for machine in (None, *self._known()):
            action = menu.addAction(_name(machine), partial(self._show, machine))
            action.setCheckable(True)
            action.setChecked(machine == self._shown)
        menu.addSeparator()
        menu.addAction(tr("Add a machine…"), self.add)
        if self._shown is not None:
            menu.addAction(tr("Rename {name}…", name=self._shown.name), partial(self.rename, self._shown))
            menu.addAction(tr("Remove {name} from the list", name=self._shown.name), partial(self.remove, self._shown))

    def add(self) -> "MachineDialog":
        dialog = MachineDialog(self.window(), tr("Add a machine"), self._add)
        dialog.open()
        return dialog

    def rename(self, machine: Machine) -> "MachineDialog":
        dialog = MachineDialog(self.window(), tr("Rename {name}", name=machine.name), self._rename, machine)
        dialog.open()
        return dialog

    def remove(self, machine: Machine) -> None:
        """Nothing changes over there, and it can be added again."""
        try:
            with suppress(UsageError):  # the command line has removed it already
                self._machines.remove(machine.name)
        except IdlehiveError as error:
            self.setToolTip(sentence(error.message))
        else:
            self._show(None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = self.width() - _AROUND
        self.setText(self.fontMetrics().elidedText(_name(self._shown), Qt.TextElideMode.ElideRight, room))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        tip = QPointF(self.width() - 13.0, self.height() / 2)
        painting.arrow_down(painting.mirrored(self), tip, theme.tokens().muted, 2)

    def _open(self) -> None:
        self.menu_of_machines.popup(self.mapToGlobal(self.rect().bottomLeft()))

    def _add(self, name: str, address: str) -> None:
        self._show(self._machines.add(name, address))

    def _rename(self, name: str, _address: str) -> None:
        if self._shown is not None and name != self._shown.name:
            self._show(self._machines.rename(self._shown.name, name))

    def _known(self) -> list[Machine]:
        try:
            return self._machines.all()
        except IdlehiveError as error:
            self.setToolTip(sentence(error.message))
            return []


class MachineDialog(FormDialog):
    """Name and address of a machine; what is wrong with them is said here. It never blocks: call `open()`."""

    def __init__(
        self, parent: QWidget, title: str, then: Callable[[str, str], None], machine: Machine | None = None
    ) -> None:
        text = tr(
            "Idlehive must be installed there, and “ssh HOST” must work without a question. No port is opened on"
            " either machine."
        )
        name, address = Field(tr("Name"), tr("Name, such as lab")), Field(tr("Address"), "ssh://user@host")
        super().__init__(parent, title, Label(text, wrap=True), name, address, width=460)
        self.name, self.address, self._then = name, address, then
        if machine is not None:
            self.name.setText(machine.name)
            self.address.setText(machine.address)
            self.address.setEnabled(False)

    def submit(self) -> None:
        try:
            self._then(self.name.text().strip(), self.address.text().strip())
        except IdlehiveError as error:
            self.problem.set_text(sentence(error.message))
            self.adjustSize()
        else:
            self.accept()


def _name(machine: Machine | None) -> str:
    return machine.name if machine else tr("This computer")
