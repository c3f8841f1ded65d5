"""The disk on the settings page: what Idlehive holds, what is left, and "Free space now"."""

import time

from PySide6.QtWidgets import QWidget

from app.link.engine_link import EngineLink
from app.text import disk
from app.text.formats import numbers
from app.text.i18n import tr
from app.widgets import layouts, theme
from app.widgets.basic import Button, Card, Label, Notice
from app.widgets.theme import Type
from core.api.disk import DiskUse, FreeSpace, GetDiskUse


class DiskCard(Card):
    def __init__(self, link: EngineLink) -> None:
        super().__init__(tr("Disk"), spacing=theme.UNIT * 3)
        self._link = link
        self.kinds = layouts.column(spacing=theme.UNIT)
        self.left = Label("", Type.STRONG, wrap=True)
        self.measured = Label("", Type.CAPTION, "muted")
        self.to_free = Label("", Type.CAPTION, "muted", wrap=True)
        self.problem = Notice("problem-frame")
        self.free = Button(tr("Free space now"), "secondary", self._free)
        self.free.setEnabled(False)
        self.add(self.kinds, self.left, self.measured, self.to_free, layouts.row(self.free, None), self.problem)

    def refresh(self) -> None:
        self._link.ask(GetDiskUse(), self.show_use, self.problem.set_text, kind=DiskUse)

    def show_use(self, use: DiskUse) -> None:
        layouts.clear(self.kinds)
        for name, size in disk.kinds(use):
            line = QWidget()
            layouts.row((Label(name), 1), Label(numbers.size(size), Type.STRONG), of=line)
            self.kinds.addWidget(line)
        self.left.setText(disk.left(use))
        self.measured.setText(disk.measured(time.time()))
        self.to_free.setText(disk.to_free(use))
        self.free.setEnabled(use.to_free > 0)

    def _free(self) -> None:
        self.free.setEnabled(False)
        self.problem.set_text("")
        self._link.ask(FreeSpace(), self.show_use, self.problem.set_text, kind=DiskUse)
