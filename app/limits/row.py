"""One preference on its page: its name and meaning, its value at each level, the live value, and a reset."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QMenu, QWidget

from app.limits.editor import ChoiceEditor, Editor, NumberEditor, SecretEditor, SwitchEditor, TextEditor
from app.limits.programs_editor import ProgramsEditor
from app.text import preferences
from app.text.i18n import tr
from app.text.typed import values, week
from app.widgets import layouts, painting, theme
from app.widgets.basic import Button, Label
from app.widgets.swatch import Swatch, level_colour
from app.widgets.theme import Type
from core.api.preferences.commands import PreferenceInfo
from core.api.preferences.preferences import GENTLE
from core.api.preferences.schedule import Level
from core.api.preferences.value_types import Choice, Number, Programs, ProxyAddress, Secret, Switch, Text, Value, Week
from core.api.snapshot import Snapshot

_BY_TAB = Qt.FocusPolicy.TabFocus


@dataclass(frozen=True)
class Actions:
    """What a row asks of its page, by the preference's name."""

    change: Callable[[str, Value], None]
    reset: Callable[[str], None]


class PreferenceRow(QWidget):
    """The preference, and under it its counterpart for gentle hours if it has one."""

    def __init__(self, family: Sequence[PreferenceInfo], actions: Actions) -> None:
        super().__init__()
        words = preferences.words(family[0].name)
        self._family = list(family)
        self._situation = Label(kind=Type.CAPTION, role="accent", wrap=True)
        self._problem = Label(kind=Type.CAPTION, role="problem", wrap=True)
        self._situation.hide()
        self._problem.hide()
        self.lines = {
            info.name: PreferenceLine(info, words.name, len(family) > 1, actions, self.show_problem) for info in family
        }
        self.setAccessibleName(words.name)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(lambda at: self.menu().popup(self.mapToGlobal(at)))
        self._arrange(words)

    @property
    def name(self) -> str:
        return self._family[0].name

    @property
    def changed(self) -> list[str]:
        """Those of its preferences that are not as Idlehive comes."""
        return [info.name for info in self._family if info.value != info.default]

    @property
    def is_changed(self) -> bool:
        return bool(self.changed)

    def show_values(self, family: Sequence[PreferenceInfo]) -> None:
        """Newer values of the same preferences."""
        self._family = list(family)
        for info in family:
            self.lines[info.name].show_value(info)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """The live value and what applies now."""
        live = preferences.live_value(self._family[0].name, snapshot)
        situation = preferences.situation(self._family[0], snapshot)
        self._situation.setText(situation)
        # Nothing must move under the pointer when values come and go.
        self._situation.setVisible(bool(situation) or preferences.is_observed(self._family[0].name))
        restricted = self._family[0].effective != self._family[0].value
        theme.set_role(self._situation, "accent" if restricted else "muted")
        gentle_now = snapshot.schedule.level is Level.GENTLE
        for name, line in self.lines.items():
            is_effective = len(self.lines) == 1 or name.startswith(GENTLE) is gentle_now
            line.mark(is_effective)
            line.editor.show_live(live if is_effective else None)

    def show_problem(self, sentence: str) -> None:
        """Why the last change was refused; an empty sentence hides it."""
        self._problem.setText(sentence)
        self._problem.setVisible(bool(sentence))

    def focus(self) -> None:
        """Give the keyboard to its first control."""
        controls = (widget for widget in self.findChildren(QWidget) if widget.focusPolicy() & _BY_TAB)
        if first := next((widget for widget in controls if widget.isVisible() and widget.isEnabled()), None):
            first.setFocus(Qt.FocusReason.TabFocusReason)

    def menu(self) -> QMenu:
        """What a right click offers: the default of each value."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for line in self.lines.values():
            menu.addAction(line.reset.accessibleName(), line.reset.click).setEnabled(line.reset.isEnabled())
        return menu

    def put_back(self) -> None:
        """Show the engine's values again."""
        self.show_values(self._family)

    def _arrange(self, words: preferences.Words) -> None:
        name = Label(words.name, Type.STRONG, wrap=True)
        meaning = [Label(words.meaning, Type.CAPTION, "muted", wrap=True)] if words.meaning else []
        texts = layouts.column(name, *meaning, self._situation, self._problem, None, spacing=theme.UNIT // 2)
        lines = layouts.column(*self.lines.values(), None, spacing=theme.UNIT)
        grid = layouts.grid(theme.UNIT * 6, 0, 4, 6, of=self)
        grid.addLayout(texts, 0, 0)
        grid.addLayout(lines, 0, 1)


def _editor(info: PreferenceInfo, *common: Any) -> Editor:
    match info.type:
        case Number():
            return NumberEditor(info.value, info.type, *common)
        case Switch():
            return SwitchEditor(info.value, *common)
        case Choice():
            return ChoiceEditor(info.value, info.type, *common)
        case Text() | ProxyAddress():
            return TextEditor(info.value, info.type, *common)
        case Secret():
            return SecretEditor(info.value, info.type, *common)
        case Programs() | Week():  # the page leaves the week out: it has its own page
            return ProgramsEditor(info.value, *common)


class PreferenceLine(QWidget):
    """One value of a preference: the level it is for, its editor, and the button that restores the default."""

    def __init__(
        self, info: PreferenceInfo, name: str, with_level: bool, actions: Actions, show_problem: Callable[[str], None]
    ) -> None:
        super().__init__()
        gentle = info.name.startswith(GENTLE)
        level = week.level_name(Level.GENTLE if gentle else Level.FULL)
        spoken = tr("{name}, {level}", name=name, level=level) if with_level else name
        self.editor = _editor(info, spoken, lambda value: actions.change(info.name, value), show_problem)
        self.reset = _Reset(tr("Back to the default: {name}", name=spoken), lambda: actions.reset(info.name))
        self._mark = _LevelMark((Level.GENTLE if gentle else Level.FULL) if with_level else None)
        layouts.row(self._mark, (self.editor, 1), self.reset, spacing=theme.UNIT * 2, of=self)
        self.show_value(info)

    def show_value(self, info: PreferenceInfo) -> None:
        self.editor.show_value(info.value)
        self.reset.setEnabled(info.value != info.default)
        self.reset.setToolTip(tr("Back to the default: {value}", value=values.write(info.default, info.type)))

    def mark(self, applies: bool) -> None:
        """Whether this is the level of this hour."""
        self._mark.set_applies(applies)


class _LevelMark(QWidget):
    """Colour and name of a level; without one only as wide, so that all sliders of a page begin at the same place."""

    def __init__(self, level: Level | None) -> None:
        super().__init__()
        self._name = Label(week.level_name(level) if level else "", Type.CAPTION, "muted")
        strong = QFontMetrics(theme.font(Type.LABEL))
        names = (week.level_name(Level.GENTLE), week.level_name(Level.FULL))
        self._name.setFixedWidth(max(strong.horizontalAdvance(name) for name in names) + 2)
        swatch = Swatch(partial(level_colour, level or Level.OFF))
        layouts.row(swatch, self._name, spacing=theme.UNIT * 2, of=self)
        if level is None:
            layouts.keep_place(swatch)
            swatch.hide()

    def set_applies(self, applies: bool) -> None:
        self._name.setFont(theme.font(Type.LABEL if applies else Type.CAPTION))
        theme.set_role(self._name, "text" if applies else "muted")


class _Reset(Button):
    """An arrow that turns back; drawn, since not every font has one."""

    def __init__(self, name: str, then: Callable[[], object]) -> None:
        super().__init__("", "icon", then)
        self.setAccessibleName(name)
        self.setFixedSize(28, 28)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        now = theme.tokens()
        painter = painting.smooth(self)
        painter.setPen(painting.round_pen(now.text if self.isEnabled() else now.line, 1.6))
        middle, radius = QPointF(self.rect().center()) + QPointF(0.5, 0.5), 5.5
        painter.drawArc(QRectF(middle.x() - radius, middle.y() - radius, 2 * radius, 2 * radius), -120 * 16, 270 * 16)
        tip = middle + QPointF(-4.9, -3.0)
        painter.drawPolyline(QPolygonF([tip + QPointF(-0.2, -3.6), tip, tip + QPointF(3.8, -0.4)]))
