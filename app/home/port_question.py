"""Asks once whether the router may open a port; the answer is a preference."""

from collections.abc import Callable

from PySide6.QtWidgets import QFrame

from app.text import status
from app.text.i18n import tr
from app.widgets import layouts, theme
from app.widgets.basic import Button, Label
from core.api.preferences.commands import SetPreference
from core.api.snapshot import Snapshot


class PortQuestion(QFrame):
    """Shown while this computer contributes as a peer that only calls others, until the volunteer answers."""

    def __init__(self, perform: Callable[[SetPreference], None]) -> None:
        super().__init__()
        theme.set_role(self, "notice-frame")
        question = tr(
            "May Idlehive ask your router to open a port while it contributes? Others then reach this computer"
            " directly, and within your limits it averages for those that cannot be reached. The port is closed again"
            " at the end."
        )
        self.allow = Button(tr("Allow"), "secondary", lambda: perform(SetPreference("port_mapping", "yes")))
        self.refuse = Button(tr("No"), "link", lambda: perform(SetPreference("port_mapping", "no")))
        answers = layouts.row(self.allow, self.refuse, None)
        column = layouts.column(Label(question, wrap=True), answers, spacing=theme.UNIT * 2, of=self)
        column.setContentsMargins(*[theme.UNIT * 4, theme.UNIT * 3] * 2)
        self.setAccessibleName(question)
        self.hide()

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self.setVisible(status.asks_for_port(snapshot))
