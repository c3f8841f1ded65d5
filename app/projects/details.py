"""The unfolded part of a project's card: what a volunteer asks before joining, and joining with an invite."""

from collections.abc import Callable

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.text import projects
from app.text.i18n import tr
from app.widgets import layouts, theme
from app.widgets.basic import Button, Field, Label
from app.widgets.theme import Type
from core.api.project.projects import ProjectDetails


class Details(QWidget):
    """`join` gets the invite, None for none; `remove` takes the project off the list."""

    def __init__(self, details: ProjectDetails, join: Callable[[str | None], None], remove: Callable[[], None]) -> None:
        super().__init__()
        rows = (
            (Label(name, Type.CAPTION, "muted"), Label(value, Type.CAPTION, wrap=True))
            for name, value in projects.rows(details)
        )
        column = layouts.column(layouts.table(rows, theme.UNIT * 5), spacing=theme.UNIT * 2, of=self)
        column.setContentsMargins(0, theme.UNIT * 2, 0, 0)
        links: list[Button] = []
        if (url := _page(details)).scheme() in {"http", "https"}:
            links.append(Button(tr("Visit {site}", site=url.host()), "link", lambda: QDesktopServices.openUrl(url)))
        if not details.info.practice:
            source = details.info.source
            links.append(Button(tr("Copy the address"), "link", lambda: QGuiApplication.clipboard().setText(source)))
            if not details.info.joined:
                links.append(Button(tr("Remove from the list"), "link", remove))
        column.addLayout(layouts.row(*links, None))
        if not details.info.joined:
            column.addLayout(_invite(join))


def _page(details: ProjectDetails) -> QUrl:
    """Its homepage, else the page of its host, which is beside the manifest."""
    return QUrl(details.homepage) if details.homepage else QUrl(details.info.source).resolved(QUrl("."))


def _invite(join: Callable[[str | None], None]) -> QHBoxLayout:
    """Some projects take members by invite; the secret is not shown while it is typed."""
    field = Field(tr("Invite"), tr("Invite, if the organiser gave you one"))
    field.setEchoMode(Field.EchoMode.Password)
    field.setMaximumWidth(360)
    button = Button(tr("Join with invite"), "secondary", lambda: join(field.text().strip() or None))
    field.returnPressed.connect(button.click)
    return layouts.row((field, 1), button, None)
