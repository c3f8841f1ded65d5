"""An editor for each type of preference. All show the engine's value and ask the engine for another one."""

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QLineEdit, QWidget

from app.limits import stops
from app.limits.entry import Entry
from app.limits.slider import LimitSlider
from app.text import messages
from app.text.typed import quantities, values
from app.widgets import layouts, theme
from app.widgets.controls.combo import Combo
from app.widgets.controls.switch import Switch
from core.api.errors import UsageError
from core.api.preferences.value_types import Choice, Number, ProxyAddress, Secret, Text, Value

Ask = Callable[[Any], None]
ShowProblem = Callable[[str], None]

_WITHOUT_SLIDER = {"port", "day", "time"}
"""Units of which one value is not more than another."""
_WIDE_ENTRY = 24
"""Characters."""


class Editor(QWidget):
    """One value. `ask` gets what the volunteer wants instead, `show_problem` a sentence on what cannot be."""

    def __init__(self, value: Any, name: str, ask: Ask, show_problem: ShowProblem) -> None:
        super().__init__()
        self._value = value
        self._ask = ask
        self._show_problem = show_problem
        self.row = layouts.row(spacing=theme.UNIT * 3, of=self)
        self.setAccessibleName(name)

    def show_value(self, value: Value) -> None:
        self._value = value
        self._show()

    def show_live(self, value: float | None) -> None:
        """What is used right now, where that is measured."""

    def _show(self) -> None:
        """Show `_value`."""

    def _put(self, control: QWidget, name: str) -> None:
        """At the right, as the only control."""
        control.setAccessibleName(name)
        layouts.add(self.row, None, control)


class NumberEditor(Editor):
    """A slider over round values from little to much, an entry for any, and a switch for what 0 stands for."""

    def __init__(self, value: Any, of: Number, name: str, ask: Ask, show_problem: ShowProblem) -> None:
        super().__init__(value, name, ask, show_problem)
        self._number = of
        self._stops = stops.stops(self._number)
        self.slider = LimitSlider()
        self.slider.setRange(0, len(self._stops) - 1)
        self.slider.setPageStep(max(1, len(self._stops) // 10))
        self.slider.setAccessibleName(name)
        self.slider.sliderMoved.connect(self._on_dragged)
        self.slider.sliderReleased.connect(lambda: self._choose(self.slider.sliderPosition()))
        self.slider.actionTriggered.connect(self._on_key)
        self.entry = Entry(self._on_typed, self._put_back, longest=quantities.zero_word(of.zero))
        self.entry.setAccessibleName(name)
        self.zero = Switch()
        if self._number.unit in _WITHOUT_SLIDER:
            self.slider.hide()
            self.row.addStretch(1)
        else:
            self.row.addWidget(self.slider, 1)
            # So that all sliders of a page end at the same place.
            layouts.keep_place(self.zero)
        self.row.addWidget(self.entry)
        self.zero.setAccessibleName(f"{name}: {quantities.zero_word(of.zero)}")
        self.zero.setToolTip(quantities.zero_word(of.zero))
        self.zero.clicked.connect(self._on_zero)
        self.row.addWidget(self.zero)
        self.zero.setVisible(self._has_zero)
        self._show()

    @property
    def _has_zero(self) -> bool:
        return bool(self._number.zero) and self._number.unit not in _WITHOUT_SLIDER

    @property
    def _is_zero(self) -> bool:
        return self._has_zero and self._value == 0

    def show_live(self, value: float | None) -> None:
        self.slider.set_live(None if value is None else stops.stop_of(value, self._stops))

    def _show(self) -> None:
        written = quantities.write(self._value, self._number)
        if not self.slider.isSliderDown():
            self.slider.setValue(self._position())
            self.entry.show_text(written)
        self.slider.set_idle(self._is_zero)
        self.zero.setChecked(self._is_zero)
        self.slider.setAccessibleDescription(written)

    def _position(self) -> int:
        if self._is_zero:
            return stops.stop_instead(self._number, self._stops)
        return round(stops.stop_of(self._value, self._stops))

    def _on_dragged(self, position: int) -> None:
        self.entry.setText(quantities.write(self._stops[position], self._number))

    def _on_key(self, _action: int) -> None:
        # Qt reports a drag by this too; that one is asked for when it ends.
        if not self.slider.isSliderDown():
            self._choose(self.slider.sliderPosition())

    def _choose(self, position: int) -> None:
        if position != self._position() or self._is_zero:
            self._ask(self._stops[position])
        else:
            self._show()

    def _on_zero(self, on: bool) -> None:
        # It stays where it was until the engine has said yes.
        self._show()
        self._ask(0 if on else self._stops[self._position()])

    def _on_typed(self, text: str) -> None:
        try:
            value = quantities.parse(text, self._number, usual_unit=True)
        except UsageError as error:
            self._show_problem(messages.sentence(error.message))
            self._put_back()
        else:
            self._ask(value)

    def _put_back(self) -> None:
        self.entry.show_text(quantities.write(self._value, self._number))


class SwitchEditor(Editor):
    def __init__(self, value: Any, name: str, ask: Ask, show_problem: ShowProblem) -> None:
        super().__init__(value, name, ask, show_problem)
        self.switch = Switch()
        self.switch.clicked.connect(self._on_clicked)
        self._put(self.switch, name)
        self._show()

    def _show(self) -> None:
        self.switch.setChecked(self._value)

    def _on_clicked(self, on: bool) -> None:
        # It stays where it was until the engine has said yes.
        self._show()
        self._ask(on)


class ChoiceEditor(Editor):
    def __init__(self, value: Any, of: Choice, name: str, ask: Ask, show_problem: ShowProblem) -> None:
        super().__init__(value, name, ask, show_problem)
        self.combo = Combo({option: values.write(option, of) for option in of.values})
        self.combo.activated.connect(self._on_chosen)
        self._put(self.combo, name)
        self._show()

    def _show(self) -> None:
        self.combo.setCurrentIndex(self.combo.findData(self._value))

    def _on_chosen(self, _index: int) -> None:
        wanted = self.combo.currentData()
        self._show()
        self._ask(wanted)


class TextEditor(Editor):
    def __init__(self, value: Any, of: Text | ProxyAddress, name: str, ask: Ask, show_problem: ShowProblem) -> None:
        super().__init__(value, name, ask, show_problem)
        self.entry = Entry(lambda text: ask(text.strip()), self._show, width=_WIDE_ENTRY)
        self.entry.setPlaceholderText(values.write("", of))
        self._put(self.entry, name)
        self._show()

    def _show(self) -> None:
        self.entry.show_text(self._value)


class SecretEditor(Editor):
    """An entry that shows dots, and never what is kept."""

    def __init__(self, value: Any, of: Secret, name: str, ask: Ask, show_problem: ShowProblem) -> None:
        super().__init__(value, name, ask, show_problem)
        self._secret = of
        self.entry = Entry(ask, self._show, width=_WIDE_ENTRY)
        self.entry.setEchoMode(QLineEdit.EchoMode.Password)
        self._put(self.entry, name)
        self._show()

    def _show(self) -> None:
        self.entry.show_text("")
        self.entry.setPlaceholderText(values.write(self._value, self._secret))
