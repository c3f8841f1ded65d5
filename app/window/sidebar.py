"""The sidebar: the pages, and at the bottom the state of the engine."""

from collections.abc import Callable

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeySequence, QPaintEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QWidget

from app.link.engine_link import Link
from app.text.i18n import tr
from app.widgets import layouts, painting, theme
from app.widgets.basic import Button, Label, Logo
from app.widgets.theme import Type


class Sidebar(QWidget):
    """`chosen` gives the number of the page. The last one, the settings, is at the bottom."""

    chosen = Signal(int)

    def __init__(self, names: list[str], machines: QWidget, quit_program: Callable[[], object]) -> None:
        super().__init__()
        self.setObjectName("sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.arrange(roomy=True)
        self._group = QButtonGroup(self)
        self._group.idClicked.connect(self.chosen)
        *pages, settings = (_NavButton(name, number) for number, name in enumerate(names))
        for number, button in enumerate((*pages, settings)):
            self._group.addButton(button, number)
        quit_button = Button(tr("Quit"), "nav", quit_program, Type.TEXT)
        quit_button.setToolTip(QKeySequence("Ctrl+Q").toString(QKeySequence.SequenceFormat.NativeText))
        last = settings, quit_button, theme.UNIT, self._footer()
        column = layouts.column(
            self._brand(), theme.UNIT, machines, theme.UNIT, *pages, None, *last, spacing=theme.UNIT, of=self
        )
        column.setContentsMargins(theme.UNIT * 3, theme.UNIT * 3, theme.UNIT * 3, theme.UNIT * 2)
        self.show_page(0)

    def show_page(self, number: int) -> None:
        self._group.button(number).setChecked(True)

    def arrange(self, roomy: bool) -> None:
        self.setFixedWidth(theme.SIDEBAR_WIDTH if roomy else theme.NARROW_SIDEBAR_WIDTH)

    def show_link(self, state: Link, version: str = "", *, is_remote: bool = False) -> None:
        local = {
            Link.STARTING: (tr("Starting…"), "muted"),
            Link.UP: (tr("Engine running"), "text"),
            Link.SILENT: (tr("Engine not answering"), "problem"),
            Link.GONE: (tr("Engine stopped"), "problem"),
        }
        remote = {
            Link.STARTING: (tr("Connecting…"), "muted"),
            Link.UP: (tr("Connected"), "text"),
            Link.SILENT: (tr("Not answering"), "problem"),
            Link.GONE: (tr("Not connected"), "problem"),
        }
        text, role = (remote if is_remote else local)[state]
        self._engine.setText(text)
        theme.set_role(self._engine, role)
        if version:
            self._version.setText(tr("version {version}", version=version))

    def _brand(self) -> QHBoxLayout:
        row = layouts.row(Logo(28), (Label("Idlehive", Type.NAME), 1), spacing=theme.UNIT * 2)
        row.setContentsMargins(theme.UNIT * 2, 0, 0, 0)
        return row

    def _footer(self) -> QFrame:
        frame = QFrame()
        theme.set_role(frame, "footer")
        self._engine = Label(kind=Type.CAPTION, wrap=True)
        self._version = Label(kind=Type.CAPTION, role="muted", wrap=True)
        column = layouts.column(self._engine, self._version, spacing=0, of=frame)
        column.setContentsMargins(theme.UNIT * 3, theme.UNIT * 2, theme.UNIT * 3, theme.UNIT * 2)
        return frame


class _NavButton(Button):
    def __init__(self, name: str, number: int) -> None:
        super().__init__(name, "nav", kind=Type.TEXT)
        self.setCheckable(True)
        shortcut = QKeySequence(f"Ctrl+{number + 1}")
        self.setShortcut(shortcut)
        self.setToolTip(shortcut.toString(QKeySequence.SequenceFormat.NativeText))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        now = theme.tokens()
        painter = painting.mirrored(self)
        painting.fill(painter, now.accent if self.isChecked() else now.line)
        painter.drawRoundedRect(QRectF(12, self.height() / 2 - 4, 8, 8), 3, 3)
