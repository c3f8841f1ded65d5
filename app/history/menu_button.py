"""A button that shows the current choice and offers the others in a menu."""

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtWidgets import QMenu

from app.text.i18n import tr
from app.widgets import verbatim
from app.widgets.basic import Button


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

    def choose(self, name: str) -> None:
        self._show(name)
        self._then(self._choices[name])

    def _show(self, name: str) -> None:
        self._shown = name
        self.setText(verbatim.in_menu(verbatim.shortened(name, self.fontMetrics(), 200)))
        self.setAccessibleName(tr("{meaning}: {name}", meaning=self._meaning, name=name))
