"""A live value beside its ceiling: a name, "63 of 80 %", and a bar that is full at the ceiling."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QWidget

from app.text.i18n import tr
from app.widgets import layouts, painting, theme
from app.widgets.basic import Label
from app.widgets.theme import Type

_BAR = 5


class Meter(QWidget):
    """It knows no unit: values come as words."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._value = Label("", Type.STRONG)
        self._ceiling = Label("", Type.CAPTION, "muted")
        self._bar = _Bar()
        grid = layouts.grid(theme.UNIT, theme.UNIT // 2, 1, of=self)
        grid.addWidget(Label(name, Type.CAPTION), 0, 0)
        grid.addWidget(self._value, 0, 1, Qt.AlignmentFlag.AlignBaseline)
        grid.addWidget(self._ceiling, 0, 2, Qt.AlignmentFlag.AlignBaseline)
        grid.addWidget(self._bar, 1, 0, 1, 3)

    def show_value(self, value: str, ceiling: str, share: float | None) -> None:
        """`ceiling` as it follows the value: "of 80 %". `share` of it, 0 to 1; None where there is no ceiling."""
        self._value.setText(value)
        self._ceiling.setText(ceiling)
        self._ceiling.setVisible(bool(ceiling))
        self._bar.setVisible(share is not None)
        self._bar.set_share(share or 0.0)
        self.setAccessibleName(tr("{name}: {value} {ceiling}", name=self._name, value=value, ceiling=ceiling).strip())


class _Bar(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._share = 0.0
        self.setFixedHeight(_BAR)

    def set_share(self, share: float) -> None:
        share = min(1.0, max(0.0, share))
        if share != self._share:
            self._share = share
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        now = theme.tokens()
        painter = painting.mirrored(self)
        painting.fill(painter, now.track)
        painter.drawRoundedRect(self.rect(), _BAR / 2, _BAR / 2)
        if self._share > 0:
            painting.fill(painter, now.accent)
            width = max(_BAR, self.width() * self._share)
            painter.drawRoundedRect(QRectF(0, 0, width, self.height()), _BAR / 2, _BAR / 2)
