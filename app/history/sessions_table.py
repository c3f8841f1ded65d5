"""The sessions of a period, newest first. Scrolling to the end fetches more."""

import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from app.text import history
from app.text.formats import amounts, numbers, times
from app.text.i18n import tr
from app.widgets import theme
from app.widgets.theme import Type
from core.api.record.record import MOST_SESSIONS, SessionGiven, Sums

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_ROWS = 9
_ROUNDS, _ENDED = 4, 6
"""Columns whose tool tips say more."""


class SessionsModel(QAbstractTableModel):
    """`fetch` requests the sessions that began before a moment. Those that gave nothing are folded away."""

    folded_changed = Signal(int)
    """How many are folded away, or would be."""

    def __init__(self, fetch: Callable[[float], None]) -> None:
        super().__init__()
        self._fetch = fetch
        self._fetched: list[SessionGiven] = []
        self._folds = True
        self.sessions: list[SessionGiven] = []
        """The rows."""
        self._more = False

    def show(self, sessions: list[SessionGiven]) -> None:
        self._fetched = list(sessions)
        self._more = len(sessions) >= MOST_SESSIONS
        self._reset()

    def add(self, sessions: list[SessionGiven]) -> None:
        self._fetched += sessions
        self._more = len(sessions) >= MOST_SESSIONS
        first, rows = len(self.sessions), self._unfolded(sessions)
        if rows:
            self.beginInsertRows(_NO_INDEX, first, first + len(rows) - 1)
            self.sessions += rows
            self.endInsertRows()
        self._tell_folded()

    def fold(self, folds: bool) -> None:
        """Whether sessions that gave nothing are left out."""
        self._folds = folds
        self._reset()

    def _reset(self) -> None:
        self.beginResetModel()
        self.sessions = self._unfolded(self._fetched)
        self.endResetModel()
        self._tell_folded()

    def _unfolded(self, sessions: list[SessionGiven]) -> list[SessionGiven]:
        return [session for session in sessions if not (self._folds and gave_nothing(session))]

    def _tell_folded(self) -> None:
        self.folded_changed.emit(sum(map(gave_nothing, self._fetched)))

    def canFetchMore(self, _parent: Index) -> bool:  # noqa: N802 - Qt's name
        return self._more

    def fetchMore(self, _parent: Index) -> None:  # noqa: N802 - Qt's name
        self._more = False
        self._fetch(self._fetched[-1].started_at)

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
        session = self.sessions[index.row()]
        if role in {Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole}:
            return {_ROUNDS: rounds(session.sums), _ENDED: ended(session)}.get(
                index.column(), cells(session)[index.column()]
            )
        return cells(session)[index.column()] if role == Qt.ItemDataRole.DisplayRole else None


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
        heading.setFixedHeight(self.verticalHeader().defaultSectionSize())
        heading.setHighlightSections(False)
        heading.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        for column in (0, 2, 3, 4, 5):
            heading.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        heading.setResizeContentsPrecision(40)
        self.setFixedHeight((_ROWS + 1) * self.verticalHeader().defaultSectionSize())


def gave_nothing(session: SessionGiven) -> bool:
    """It ended before it computed anything: the table would be full of them after a bad night."""
    return session.ending is not None and not session.sums.samples and round(session.sums.seconds) == 0


def rounds(sums: Sums) -> str:
    """With those that failed, for which a column has no room."""
    if not sums.failed_rounds:
        return amounts.rounds(sums.rounds)
    done, failed = amounts.rounds(sums.rounds), numbers.count(sums.failed_rounds)
    return tr("{done}, {failed} failed", done=done, failed=failed)


def ended(session: SessionGiven) -> str:
    """Why, with the figures of a failure."""
    return tr("still running") if session.ending is None else history.ending_in_full(session.ending)


def cells(session: SessionGiven) -> tuple[str, ...]:
    sums = session.sums
    given = sums.samples if sums.accepted is None else sums.accepted
    ending = tr("still running") if session.ending is None else history.ending(session.ending)
    return (
        times.moment(session.started_at, time.time()),
        tr("{name} (imported)", name=session.name) if session.imported else session.name,
        numbers.duration(sums.seconds),
        numbers.count(given),
        numbers.count(sums.rounds),
        "–" if sums.energy is None else numbers.energy(sums.energy),
        ending,
    )


def _columns() -> tuple[str, ...]:
    return (tr("Began"), tr("Project"), tr("Time"), tr("Samples"), tr("Rounds"), tr("Energy"), tr("Ended"))


def _side(column: int) -> Qt.AlignmentFlag:
    right = 2 <= column <= 5
    return Qt.AlignmentFlag.AlignVCenter | (Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft)
