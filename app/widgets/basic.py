"""The building blocks of every page."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QPushButton, QWidget

from app.text.i18n import tr
from app.widgets import icons, layouts, painting, theme
from app.widgets.theme import Type


class Label(QLabel):
    """Text of one size and role. Never rich text: names and sentences also come from manifests of strangers."""

    def __init__(self, text: str = "", kind: Type = Type.TEXT, role: str = "text", wrap: bool = False) -> None:
        super().__init__(text)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(theme.font(kind))
        self.setWordWrap(wrap)
        if wrap:
            self.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading)
        theme.set_role(self, role)


class Button(QPushButton):
    """A button with its text as its accessible name."""

    def __init__(
        self,
        text: str,
        role: str = "secondary",
        then: Callable[[], object] | None = None,
        kind: Type = Type.STRONG,
    ) -> None:
        super().__init__(text)
        self.setFont(theme.font(kind))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(text)
        theme.set_role(self, role)
        if then:
            self.clicked.connect(lambda _checked: then())

    def set_text(self, text: str) -> None:
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(text)


class ToggleButton(Button):
    """A button that stays down."""

    def __init__(self, text: str, then: Callable[[], object] | None = None, checked: bool = False) -> None:
        super().__init__(text, "preset", then)
        self.setCheckable(True)
        self.setChecked(checked)


class Field(QLineEdit):
    """A line to type in. `name` is for screen readers, `hint` is shown while it is empty."""

    def __init__(self, name: str, hint: str = "") -> None:
        super().__init__()
        self.setFont(theme.font(Type.TEXT))
        self.setAccessibleName(name)
        self.setPlaceholderText(hint or name)


class SearchField(Field):
    """`changed` is called with every letter."""

    def __init__(self, changed: Callable[[], None], name: str, hint: str = "") -> None:
        super().__init__(name, hint)
        self.setClearButtonEnabled(True)
        self.textChanged.connect(lambda _: changed())


class Logo(QLabel):
    def __init__(self, side: int) -> None:
        super().__init__()
        self.setPixmap(icons.logo_picture(side, self.devicePixelRatioF()))
        self.setAccessibleName(tr("The logo of Idlehive"))


class Line(QFrame):
    def __init__(self) -> None:
        super().__init__()
        theme.set_role(self, "line")
        self.setFixedHeight(1)


class Card(QFrame):
    """A rounded panel with a column of content. `name` is for screen readers, where there is no heading."""

    def __init__(self, heading: str = "", *parts: layouts.Part, name: str = "", spacing: int = theme.UNIT * 2) -> None:
        super().__init__()
        theme.set_role(self, "card")
        self.column = layouts.column(spacing=spacing, of=self)
        self.column.setContentsMargins(*[theme.CARD_PADDING] * 4)
        self.setAccessibleName(heading or name)
        if heading:
            self.add(Label(heading, Type.LABEL, "muted"))
        self.add(*parts)

    def add(self, *parts: layouts.Part) -> None:
        layouts.add(self.column, *parts)


class Notice(QFrame):
    """One sentence in a frame, with an action or a button to dismiss it. Hidden while it is empty."""

    def __init__(self, role: str, action: str = "", then: Callable[[], object] | None = None) -> None:
        super().__init__()
        theme.set_role(self, role)
        self.label = Label(wrap=True)
        self.label.setAlignment(Qt.AlignmentFlag.AlignVCenter)
        self.action = Button(action, "secondary", then) if action else Button(tr("Dismiss"), "link", self.hide)
        self._row = row = layouts.row((self.label, 1), self.action, of=self)
        row.setContentsMargins(theme.UNIT * 4, theme.UNIT * 2, theme.UNIT * 2, theme.UNIT * 2)
        self.hide()

    def offer(self, *buttons: Button) -> None:
        """Further actions, beside the first one."""
        layouts.add(self._row, *buttons)

    def set_text(self, sentence: str) -> None:
        """Show a sentence; an empty one hides the notice."""
        self.label.setText(sentence)
        self.setAccessibleName(sentence)
        self.setVisible(bool(sentence))


class Dot(QWidget):
    """The coloured dot before the words for a state."""

    def __init__(self) -> None:
        super().__init__()
        self._tone = "quiet"
        self.setFixedSize(9, 9)

    def set_tone(self, tone: str) -> None:
        if tone != self._tone:
            self._tone = tone
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        now = theme.tokens()
        colours = {"good": now.good, "working": now.accent, "problem": now.problem}
        painter = painting.smooth(self)
        painting.fill(painter, colours.get(self._tone, now.other_1))
        painter.drawEllipse(self.rect())
