"""A button that shows the current choice and offers the others in a menu."""

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy

from app.text.i18n import tr
from app.widgets import theme, verbatim
from app.widgets.basic import Button

_LEAST = 120
"""Pixels of a button whose name has no room."""


class MenuButton(Button):
    """`then` receives the chosen value."""

    def __init__(self, meaning: str, then: Callable[[str | None], None]) -> None:
        super().__init__("", "link")
        self._meaning = meaning
        self._then = then
        self._choices: dict[str, str | None] = {}
        self._shown = ""
        self._menu = QMenu(self)
        self.setMenu(self._menu)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.hide()

    def offer(self, choices: Mapping[str, str | None], chosen: str | None) -> None:
        """Names and their values; the button is hidden while there is no choice."""
        if dict(choices) != self._choices:
            self._choices = dict(choices)
            self._menu.clear()
            for name in choices:
                self._menu.addAction(verbatim.in_menu(name), partial(self.choose, name))
        self._show(next((name for name, value in choices.items() if value == chosen), next(iter(choices), "")))
        self.setVisible(len(choices) > 1)

    def name_of(self, value: str | None) -> str | None:
        """What a value other than the chosen one is called; nothing for one that is not offered."""
        names = (name for name, each in self._choices.items() if each == value and name != self._shown)
        return None if value is None else next(names, None)

    def sizeHint(self) -> QSize:
        """For the whole name, which may also have less room."""
        words = self.fontMetrics().horizontalAdvance(self._shown)
        return QSize(self._around() + words, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint().boundedTo(QSize(theme.scaled(_LEAST), 1 << 20))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def choose(self, name: str) -> None:
        self._show(name)
        self._then(self._choices[name])

    def _show(self, name: str) -> None:
        self._shown = name
        self._fit()
        self.updateGeometry()
        self.setAccessibleName(tr("{meaning}: {name}", meaning=self._meaning, name=name))

    def _fit(self) -> None:
        name = verbatim.shortened(self._shown, self.fontMetrics(), self.width() - self._around())
        self.setText(verbatim.in_menu(name))

    def _around(self) -> int:
        """Pixels beside the words."""
        return super().sizeHint().width() - self.fontMetrics().size(Qt.TextFlag.TextShowMnemonic, self.text()).width()
