"""What changes a limit: a slider with an entry, or a switch. Both show what the engine says and ask for another."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from app.limits.slider import LimitSlider
from app.text import quantities
from app.text.messages import sentence
from app.widgets import theme
from app.widgets.switch import Switch
from app.widgets.theme import Type
from core.api.errors import UsageError
from core.api.preferences.limits import LimitInfo

Ask = Callable[[int], None]
Tell = Callable[[str], None]

_WITHOUT_SLIDER = {"port", "day", "time", "currency"}
"""Units of which one value is not more than another."""


class LimitEditor(QWidget):
    """One value. `ask` gets what the volunteer wants instead, `show_problem` a sentence on what cannot be."""

    def __init__(self, limit: LimitInfo, name: str, ask: Ask, show_problem: Tell) -> None:
        super().__init__()
        self._limit = limit
        self._ask = ask
        self._show_problem = show_problem
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(theme.UNIT * 3)
        self.setAccessibleName(name)

    def show_limit(self, limit: LimitInfo) -> None:
        raise NotImplementedError

    def show_live(self, value: float | None) -> None:
        """What is used right now, where that is measured."""


class AmountEditor(LimitEditor):
    """A slider over round values and an entry for any."""

    def __init__(self, limit: LimitInfo, name: str, ask: Ask, show_problem: Tell) -> None:
        super().__init__(limit, name, ask, show_problem)
        self._stops = quantities.stops(limit)
        self.slider = LimitSlider()
        self.slider.setRange(0, len(self._stops) - 1)
        self.slider.setPageStep(max(1, len(self._stops) // 10))
        self.slider.setAccessibleName(name)
        self.slider.sliderMoved.connect(self._on_dragged)
        self.slider.sliderReleased.connect(lambda: self._choose(self.slider.sliderPosition()))
        self.slider.actionTriggered.connect(self._on_key)
        self.entry = _Entry(self._on_typed, self._put_back)
        self.entry.setAccessibleName(name)
        if limit.unit in _WITHOUT_SLIDER:
            self.slider.hide()
            self.row.addStretch(1)
        else:
            self.row.addWidget(self.slider, 1)
        self.row.addWidget(self.entry)
        self.show_limit(limit)

    def show_limit(self, limit: LimitInfo) -> None:
        self._limit = limit
        if not self.slider.isSliderDown():
            self.slider.setValue(round(quantities.stop_of(limit.value, self._stops, limit)))
            self.entry.show_text(quantities.write(limit.value, limit))
        self.slider.setAccessibleDescription(quantities.write(limit.value, limit))

    def show_live(self, value: float | None) -> None:
        self.slider.set_live(None if value is None else quantities.stop_of(value, self._stops, self._limit))

    def _on_dragged(self, position: int) -> None:
        self.entry.setText(quantities.write(self._stops[position], self._limit))

    def _on_key(self, _action: int) -> None:
        # Qt tells of a drag by this too; that one is asked for when it ends.
        if not self.slider.isSliderDown():
            self._choose(self.slider.sliderPosition())

    def _choose(self, position: int) -> None:
        if position != round(quantities.stop_of(self._limit.value, self._stops, self._limit)):
            self._ask(self._stops[position])
        else:
            self.show_limit(self._limit)

    def _on_typed(self, text: str) -> None:
        try:
            value = quantities.parse(text, self._limit)
        except UsageError as error:
            self._show_problem(sentence(error.message))
            self._put_back()
        else:
            self._ask(value)

    def _put_back(self) -> None:
        self.entry.show_text(quantities.write(self._limit.value, self._limit))


class SwitchEditor(LimitEditor):
    """On or off."""

    def __init__(self, limit: LimitInfo, name: str, ask: Ask, show_problem: Tell) -> None:
        super().__init__(limit, name, ask, show_problem)
        self.switch = Switch()
        self.switch.setAccessibleName(name)
        self.switch.clicked.connect(self._on_clicked)
        self.row.addStretch(1)
        self.row.addWidget(self.switch)
        self.show_limit(limit)

    def show_limit(self, limit: LimitInfo) -> None:
        self._limit = limit
        self.switch.setChecked(bool(limit.value))

    def _on_clicked(self, on: bool) -> None:
        # It stays where it was until the engine has said yes.
        self.switch.setChecked(bool(self._limit.value))
        self._ask(int(on))


def editor_for(limit: LimitInfo, name: str, ask: Ask, show_problem: Tell) -> LimitEditor:
    """What suits the unit."""
    return (SwitchEditor if limit.unit == "switch" else AmountEditor)(limit, name, ask, show_problem)


class _Entry(QLineEdit):
    """Asks when Return is pressed or the focus goes; Escape gives up. Text that is being typed is left alone."""

    def __init__(self, typed: Tell, put_back: Callable[[], None]) -> None:
        super().__init__()
        self._typed = typed
        self._put_back = put_back
        theme.set_role(self, "value")
        self.setFont(theme.font(Type.TEXT))
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setFixedWidth(10 * self.fontMetrics().horizontalAdvance("0") + 20)
        self.returnPressed.connect(self._commit)

    def show_text(self, text: str) -> None:
        if not self.isModified() and text != self.text():
            self.setText(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.isModified():
            self.setModified(False)
            self._put_back()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() in {Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason}:
            self.selectAll()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._commit()

    def _commit(self) -> None:
        if self.isModified():
            self.setModified(False)
            self._typed(self.text())
