"""The sessions of a period, newest first. Scrolling to the end fetches more."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from app.text import history, numbers, times
from app.text.i18n import tr
from app.widgets import theme
from app.widgets.theme import Type
from core.api.record.record import MOST_SESSIONS, SessionGiven

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_ROWS = 9


class SessionsModel(QAbstractTableModel):
    """`fetch` requests the sessions that began before a moment."""

    def __init__(self, fetch: Callable[[float], None]) -> None:
        super().__init__()
        self._fetch = fetch
        self.sessions: list[SessionGiven] = []
        self._more = False

    def show(self, sessions: list[SessionGiven]) -> None:
        self.beginResetModel()
        self.sessions = list(sessions)
        self._more = len(sessions) >= MOST_SESSIONS
        self.endResetModel()

    def add(self, sessions: list[SessionGiven]) -> None:
        first = len(self.sessions)
        self.beginInsertRows(_NO_INDEX, first, first + max(0, len(sessions) - 1))
        self.sessions += sessions
        self._more = len(sessions) >= MOST_SESSIONS
        self.endInsertRows()

    def canFetchMore(self, _parent: Index) -> bool:  # noqa: N802 - Qt's name
        return self._more

    def fetchMore(self, _parent: Index) -> None:  # noqa: N802 - Qt's name
        self._more = False
        self._fetch(self.sessions[-1].started_at)

    def rowCount(self, _parent: Index = _NO_INDEX) -> int:  # noqa: N802 - Qt's name
        return len(self.sessions)

    def columnCount(self, _parent: Index = _NO_INDEX) -> int:  # noqa: N802 - Qt's name
        return len(_columns())

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:  # noqa: N802 - Qt's name
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _columns()[section]
        return _side(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = 0) -> Any:
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(index.column())
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole}:
            return cells(self.sessions[index.row()])[index.column()]
        return None


class SessionsTable(QTableView):
    def __init__(self, fetch: Callable[[float], None]) -> None:
        super().__init__()
        self.sessions = SessionsModel(fetch)
        self.setModel(self.sessions)
        self.setAccessibleName(tr("Sessions"))
        self.setFont(theme.font(Type.CAPTION))
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(theme.line_height(Type.CAPTION) + theme.UNIT * 3)
        heading = self.horizontalHeader()
        heading.setFont(theme.font(Type.LABEL))
        heading.setHighlightSections(False)
        heading.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        for column in (0, 2, 3, 4, 5):
            heading.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        heading.setResizeContentsPrecision(40)
        self.setFixedHeight((_ROWS + 1) * self.verticalHeader().defaultSectionSize())


def cells(session: SessionGiven) -> tuple[str, ...]:
    begin = datetime.fromtimestamp(session.started_at).astimezone()
    began = f"{times.short_day(session.started_at)} {begin.year}, {times.time_of_day(begin.hour, begin.minute)}"
    sums = session.sums
    given = sums.samples if sums.accepted is None else sums.accepted
    ending = tr("still running") if session.ending is None else history.ending(session.ending)
    return (
        began,
        tr("{name} (imported)", name=session.name) if session.imported else session.name,
        numbers.duration(sums.seconds),
        numbers.count(given),
        tr("{done}, {failed} failed", done=numbers.count(sums.rounds), failed=numbers.count(sums.failed_rounds))
        if sums.failed_rounds
        else numbers.count(sums.rounds),
        "–" if sums.energy is None else numbers.energy(sums.energy),
        ending,
    )


def _columns() -> tuple[str, ...]:
    return (tr("Began"), tr("Project"), tr("Time"), tr("Samples"), tr("Rounds"), tr("Energy"), tr("Ended"))


def _side(column: int) -> Qt.AlignmentFlag:
    right = 2 <= column <= 5
    return Qt.AlignmentFlag.AlignVCenter | (Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft)
