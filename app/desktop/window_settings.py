"""What the window itself remembers, in the profile's folder: its place on the screen, what it has explained once, and
how it looks and speaks.

What the volunteer wants of contributing is a preference, kept by the engine, and never here.
"""

from typing import Literal, get_args

import msgspec
from PySide6.QtCore import QByteArray, QObject, QSettings, Signal

from app.text import i18n
from app.widgets.theme import Scheme
from core.client.profile import Profile

Quitting = Literal["ask", "end", "tray"]


class Settings(QObject):
    """A small file, `window.ini`. `changed` gives the name of the property that has another value now."""

    changed = Signal(str)

    def __init__(self, profile: Profile) -> None:
        super().__init__()
        self.profile = profile
        # Qt's file dialog remembers folders in a file of its own: in this one, and not in ~/.config.
        QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, str(profile.path))
        self._file = QSettings(str(profile.path / "window.ini"), QSettings.Format.IniFormat)

    @property
    def geometry(self) -> QByteArray | None:
        value = self._file.value("geometry")
        return value if isinstance(value, QByteArray) else None

    @geometry.setter
    def geometry(self, value: QByteArray) -> None:
        self._file.setValue("geometry", value)

    @property
    def language(self) -> str:
        """A code of `i18n.languages`, or "system"."""
        value = self._file.value("language")
        return value if value in i18n.languages() else "system"

    @language.setter
    def language(self, value: str) -> None:
        self._change("language", value)

    @property
    def scheme(self) -> Scheme:
        value = self._file.value("scheme")
        return value if value in get_args(Scheme) else "system"

    @scheme.setter
    def scheme(self, value: Scheme) -> None:
        self._change("scheme", value)

    @property
    def quitting(self) -> Quitting:
        """What Quit does while something runs."""
        value = self._file.value("quitting")
        return value if value in get_args(Quitting) else "ask"

    @quitting.setter
    def quitting(self, value: Quitting) -> None:
        self._change("quitting", value)

    @property
    def weeks(self) -> dict[str, str]:
        """Cells of the weeks that the volunteer has saved, by name."""
        try:
            return msgspec.json.decode(str(self._file.value("weeks", "{}")), type=dict[str, str])
        except msgspec.DecodeError:
            return {}

    @weeks.setter
    def weeks(self, value: dict[str, str]) -> None:
        self._change("weeks", msgspec.json.encode(value).decode())

    @property
    def machine(self) -> str:
        """Name of the machine that the window shows; empty: this one."""
        return str(self._file.value("machine", ""))

    @machine.setter
    def machine(self, value: str) -> None:
        self._change("machine", value)

    @property
    def notifications(self) -> bool:
        return str(self._file.value("notifications")) != "off"

    @notifications.setter
    def notifications(self, value: bool) -> None:
        self._change("notifications", "on" if value else "off")

    def first_time(self, what: str) -> bool:
        """True once per profile and thing."""
        if self._file.contains(f"told/{what}"):
            return False
        self._file.setValue(f"told/{what}", "yes")
        self._file.sync()
        return True

    def _change(self, name: str, value: str) -> None:
        if value != self._file.value(name):
            self._file.setValue(name, value)
            self._file.sync()
            self.changed.emit(name)
