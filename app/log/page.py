"""The log page: what has happened in sentences and, a click further, what the engine and the sessions wrote."""

from collections import deque
from collections.abc import Sequence

from PySide6.QtCore import QEvent
from PySide6.QtGui import QBrush, QColor, QGuiApplication, QHideEvent, QShowEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.link.engine_link import EngineLink
from app.log.events import EventsView
from app.log.files import Level, Line
from app.log.reader import LogReader
from app.text.i18n import tr
from app.widgets import layouts, theme
from app.widgets.basic import Button, Label, SearchField, ToggleButton
from app.widgets.controls.combo import Combo
from app.widgets.theme import Type
from core.client.profile import Profile

MOST_LINES = 5000
"""Lines that are kept and shown; older ones are still in the files."""


class LogPage(QWidget):
    """Reads only while it is visible."""

    def __init__(self, link: EngineLink, profile: Profile) -> None:
        super().__init__()
        self._link, self._profile = link, profile
        self._lines: deque[Line] = deque(maxlen=MOST_LINES)
        self._build()
        self._reader = LogReader(profile, self)
        self._reader.came.connect(self.add)

    def add(self, lines: Sequence[Line]) -> None:
        self._lines.extend(lines)
        self._write([line for line in lines[-MOST_LINES:] if self._is_wanted(line)])
        self._show_count()

    @property
    def shown(self) -> str:
        return self.view.toPlainText()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._reader.start()

    def changeEvent(self, event: QEvent) -> None:
        """Use the colours of the new theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._show_all()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._reader.stop()

    def _build(self) -> None:
        self.level = Combo(
            {
                Level.INFO: tr("Everything"),
                Level.WARNING: tr("Warnings and errors"),
                Level.ERROR: tr("Errors only"),
            }
        )
        self.level.setAccessibleName(tr("Which lines"))
        self.level.currentIndexChanged.connect(lambda _: self._show_all())
        self.search = SearchField(self._show_all, tr("Search the log"), tr("Search"))
        self.follow = ToggleButton(tr("Follow"), checked=True)
        self.follow.setToolTip(tr("Stay at the newest line"))
        self.follow.toggled.connect(lambda on: self._to_the_end() if on else None)
        self.copy = Button(tr("Copy"), "secondary", self._copy)
        self.copy.setToolTip(tr("Copy what is selected, else every line shown"))
        tools = layouts.row(self.level, (self.search, 1), self.follow, self.copy, spacing=theme.UNIT * 2)
        self.view = _view()
        self._count = Label("", Type.CAPTION, "muted", wrap=True)
        heading = Label(tr("Log"), Type.HEADLINE)
        self._technical = QWidget()
        layouts.column(tools, (self.view, 1), self._count, spacing=theme.GAP, of=self._technical)
        self.events = EventsView(self._link)
        self.technical = ToggleButton(tr("Technical log"))
        self.technical.toggled.connect(self._choose)
        if self._link.machine is not None:  # its files are over there
            self.technical.hide()
        head = layouts.row((heading, 1), self.technical)
        column = layouts.column(head, (self.events, 1), (self._technical, 1), spacing=theme.GAP, of=self)
        self._choose(technical=False)
        column.setContentsMargins(theme.PAGE_MARGIN, theme.UNIT * 5, theme.PAGE_MARGIN, theme.UNIT * 5)
        self._show_count()

    def _choose(self, technical: bool) -> None:
        self.events.setVisible(not technical)
        self._technical.setVisible(technical)

    def _is_wanted(self, line: Line) -> bool:
        words = self.search.text().casefold().split()
        text = f"{line.source} {line.text}".casefold()
        return line.level >= self.level.currentData() and all(word in text for word in words)

    def _show_all(self) -> None:
        self.view.clear()
        self._write([line for line in self._lines if self._is_wanted(line)])
        self._show_count()

    def _write(self, lines: Sequence[Line]) -> None:
        """Append without moving the text that is being read."""
        if not lines:
            return
        bar = self.view.verticalScrollBar()
        before = bar.value()
        cursor = QTextCursor(self.view.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.beginEditBlock()
        for line in lines:
            if not self.view.document().isEmpty():
                cursor.insertBlock()
            cursor.insertText(f"{line.source:<8} {line.text}", _text_format(line.level))
        cursor.endEditBlock()
        if self.follow.isChecked():
            self._to_the_end()
        else:
            bar.setValue(before)

    def _to_the_end(self) -> None:
        bar = self.view.verticalScrollBar()
        bar.setValue(bar.maximum())

    def _copy(self) -> None:
        selected = self.view.textCursor().selection().toPlainText()
        QGuiApplication.clipboard().setText(selected or self.shown)
        self._count.setText(tr("Copied."))

    def _show_count(self) -> None:
        if not self._lines:
            self._count.setText(tr("There is no log in {folder} yet.", folder=self._profile.logs))
            return
        shown = 0 if self.view.document().isEmpty() else self.view.blockCount()
        self._count.setText(
            tr(
                "{shown} of the newest {all} lines · all files are in {folder}",
                shown=shown,
                all=len(self._lines),
                folder=self._profile.logs,
            )
        )


def _view() -> QPlainTextEdit:
    view = QPlainTextEdit()
    view.setReadOnly(True)
    view.setUndoRedoEnabled(False)
    view.setMaximumBlockCount(MOST_LINES)
    view.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    view.setAccessibleName(tr("Log"))
    view.setFont(theme.fixed_font())
    view.setTabChangesFocus(True)
    return view


def _text_format(level: Level) -> QTextCharFormat:
    now, form = theme.tokens(), QTextCharFormat()
    colour = {Level.INFO: now.text, Level.WARNING: now.accent_text, Level.ERROR: now.problem}[level]
    form.setForeground(QBrush(QColor(colour)))
    return form
