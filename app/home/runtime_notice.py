"""The installation of the libraries for training, on the home page until they are ready."""

from collections.abc import Callable

from PySide6.QtWidgets import QFrame

from app.text.i18n import tr
from app.widgets import layouts, theme
from app.widgets.basic import Label
from app.widgets.compute_runtime import RuntimeView
from app.widgets.theme import Type
from core.api.installation.compute_runtime import InstallRuntime, RemoveRuntime
from core.api.snapshot import Snapshot


class RuntimeNotice(QFrame):
    def __init__(self, perform: Callable[[InstallRuntime | RemoveRuntime], None]) -> None:
        super().__init__()
        theme.set_role(self, "notice-frame")
        self.view = RuntimeView(perform)
        heading = tr("Libraries for training")
        column = layouts.column(Label(heading, Type.STRONG), self.view, spacing=theme.UNIT, of=self)
        column.setContentsMargins(*[theme.UNIT * 4, theme.UNIT * 3] * 2)
        self.setAccessibleName(heading)
        self.hide()

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self.setVisible(not snapshot.compute.ready)
        self.view.show_runtime(snapshot.compute)
