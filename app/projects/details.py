"""The unfolded part of a project's card: what a volunteer asks before joining, and joining with an invite."""

from collections.abc import Callable

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.text import projects
from app.text.i18n import tr
from app.widgets import theme
from app.widgets.basic import Button, Label
from app.widgets.theme import Type
from core.api.project.projects import ProjectDetails


class Details(QWidget):
    """`join` gets the invite, None for none."""

    def __init__(self, details: ProjectDetails, join: Callable[[str | None], None]) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, theme.UNIT * 2, 0, 0)
        column.setSpacing(theme.UNIT * 2)
        column.addLayout(_table(projects.rows(details)))
        if details.homepage and QUrl(details.homepage).scheme() in {"http", "https"}:
            url = QUrl(details.homepage)
            home = Button(tr("Visit {site}", site=url.host()), "link", lambda: QDesktopServices.openUrl(url))
            row = QHBoxLayout()
            row.addWidget(home)
            row.addStretch(1)
            column.addLayout(row)
        if not details.info.joined:
            column.addLayout(_invite(join))


def _invite(join: Callable[[str | None], None]) -> QHBoxLayout:
    """Some projects take members by invite; the secret is not shown while it is typed."""
    field = QLineEdit()
    field.setEchoMode(QLineEdit.EchoMode.Password)
    field.setPlaceholderText(tr("Invite, if the organiser gave you one"))
    field.setAccessibleName(tr("Invite"))
    field.setMaximumWidth(360)
    field.returnPressed.connect(lambda: join(field.text().strip() or None))
    row = QHBoxLayout()
    row.addWidget(field, 1)
    row.addWidget(Button(tr("Join with invite"), "secondary", lambda: join(field.text().strip() or None)))
    row.addStretch(1)
    return row


def _table(rows: list[tuple[str, str]]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(theme.UNIT * 5)
    grid.setVerticalSpacing(theme.UNIT)
    grid.setColumnStretch(1, 1)
    for number, (name, value) in enumerate(rows):
        grid.addWidget(Label(name, Type.CAPTION, "muted"), number, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(Label(value, Type.CAPTION, wrap=True), number, 1)
    return grid
