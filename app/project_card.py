"""One project in the list: what it is, what can be done with it, and its details on demand."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app import format as fmt
from app import theme
from app.texts import tr
from app.theme import Type
from app.widgets import Button, Card, Label, Notice
from core.api.messages import ProjectDetails, ProjectInfo


@dataclass(frozen=True)
class Actions:
    """What a card asks of its page; each gets the project's id."""

    contribute: Callable[[str], None]
    join: Callable[[str, str | None], None]
    leave: Callable[[str], None]
    show: Callable[[str], None]


class ProjectCard(Card):
    """A row of the list of projects."""

    def __init__(self, info: ProjectInfo, actions: Actions) -> None:
        super().__init__()
        self.info = info
        self._actions = actions
        self._details: _Details | None = None
        self.problem = Notice("problem-frame")
        self.setAccessibleName(tr("Project {name}", name=info.name))
        self.column.addLayout(self._head())
        self.column.addWidget(Label(info.summary, wrap=True))
        line = tr("by {organiser} · result under {license}", organiser=info.organiser, license=info.license)
        self.column.addWidget(Label(line, Type.CAPTION, "muted", wrap=True))
        if info.warning:
            self.column.addWidget(Label(info.warning, Type.CAPTION, "accent", wrap=True))
        self.column.addWidget(self.problem)
        self.column.addLayout(self._buttons())

    def show_details(self, details: ProjectDetails) -> None:
        """Unfold."""
        self.fold()
        self._details = _Details(details, self._join)
        self.column.addWidget(self._details)
        self.details.set_text(tr("Less"))

    def fold(self) -> None:
        """Hide the details again."""
        self.details.set_text(tr("Details"))
        if self._details:
            self._details.hide()
            self._details.deleteLater()
            self._details = None

    @property
    def unfolded(self) -> bool:
        return self._details is not None

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(theme.UNIT * 2)
        row.addWidget(Label(self.info.name, Type.NAME, wrap=True), 1)
        for text, role in _badges(self.info):
            row.addWidget(Label(text, Type.CAPTION, role))
        return row

    def _buttons(self) -> QHBoxLayout:
        name, which = self.info.name, self.info.id
        self.details = Button(tr("Details"), "secondary", self._toggle)
        self.contribute = Button(tr("Contribute"), "primary", lambda: self._actions.contribute(which))
        self.member = (
            Button(tr("Leave"), "secondary", lambda: self._actions.leave(which))
            if self.info.joined
            else Button(tr("Join"), "secondary", lambda: self._actions.join(which, None))
        )
        self.contribute.setVisible(not self.info.active)
        row = QHBoxLayout()
        row.setSpacing(theme.UNIT * 2)
        for button in (self.contribute, self.member, self.details):
            button.setAccessibleDescription(name)
            row.addWidget(button)
        row.addStretch(1)
        return row

    def _toggle(self) -> None:
        if self.unfolded:
            self.fold()
        else:
            self._actions.show(self.info.id)

    def _join(self, invite: str | None) -> None:
        self._actions.join(self.info.id, invite)


class _Details(QWidget):
    """What a volunteer asks before joining: does it fit, how much comes over the line, what have I given."""

    def __init__(self, details: ProjectDetails, join: Callable[[str | None], None]) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, theme.UNIT * 2, 0, 0)
        column.setSpacing(theme.UNIT * 2)
        column.addWidget(_fit(details))
        for sentence in details.missing:
            column.addWidget(Label(f"• {sentence}", role="problem", wrap=True))
        column.addLayout(_table(_rows(details)))
        if details.homepage and QUrl(details.homepage).scheme() in {"http", "https"}:
            url = QUrl(details.homepage)
            home = Button(tr("Visit {site}", site=url.host()), "link", lambda: QDesktopServices.openUrl(url))
            row = QHBoxLayout()
            row.addWidget(home)
            row.addStretch(1)
            column.addLayout(row)
        if not details.info.joined:
            column.addLayout(self._invite(join))

    def _invite(self, join: Callable[[str | None], None]) -> QHBoxLayout:
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


def _badges(info: ProjectInfo) -> list[tuple[str, str]]:
    badges = []
    if info.practice:
        badges.append((tr("Practice, on this computer only"), "badge"))
    if info.active:
        badges.append((tr("Contributing now"), "badge-own"))
    elif info.joined:
        badges.append((tr("Joined"), "badge"))
    return badges


def _fit(details: ProjectDetails) -> Label:
    if details.missing:
        return Label(tr("This computer lacks something:"), Type.STRONG, "problem")
    return Label(tr("Fits this computer"), Type.STRONG, "good")


def _rows(details: ProjectDetails) -> list[tuple[str, str]]:
    batch = tr("{count} samples from all peers make one epoch", count=fmt.count(details.target_batch_size))
    rows = [
        (tr("Model"), details.architecture),
        (tr("Task"), details.task.replace("_", " ")),
        (tr("Batch"), batch),
        (tr("To download"), fmt.size(details.download_size)),
        (tr("Needs"), _needs(details.requirements)),
        (tr("From"), tr("comes with Idlehive") if details.info.source == "builtin" else details.info.source),
    ]
    if details.samples:
        given = tr("{n} samples in {time}", n=fmt.count(details.samples), time=fmt.duration(details.seconds))
        rows.append((tr("You gave"), given))
    return rows


def _needs(requirements: dict[str, int]) -> str:
    wordings = {
        "memory": (tr("{amount} of memory"), fmt.size),
        "gpu_memory": (tr("{amount} of graphics memory"), fmt.size),
        "disk": (tr("{amount} of disk"), fmt.size),
        "upload": (tr("{amount} up"), fmt.rate),
        "download": (tr("{amount} down"), fmt.rate),
    }
    needs = [
        text.format(amount=unit(requirements[name]))
        for name, (text, unit) in wordings.items()
        if requirements.get(name)
    ]
    return ", ".join(needs) or tr("nothing special")


def _table(rows: list[tuple[str, str]]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(theme.UNIT * 5)
    grid.setVerticalSpacing(theme.UNIT)
    grid.setColumnStretch(1, 1)
    for number, (name, value) in enumerate(rows):
        grid.addWidget(Label(name, Type.CAPTION, "muted"), number, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(Label(value, Type.CAPTION, wrap=True), number, 1)
    return grid
