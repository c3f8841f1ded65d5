"""What the window itself remembers, in the profile's folder: its place on the screen and what it has explained once.

What the volunteer wants of Idlehive is a preference, kept by the engine, and never here.
"""

from PySide6.QtCore import QByteArray, QSettings

from core.api.home import Home


class Settings:
    """A small file, `window.ini`."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._file = QSettings(str(home.path / "window.ini"), QSettings.Format.IniFormat)

    @property
    def geometry(self) -> QByteArray | None:
        value = self._file.value("geometry")
        return value if isinstance(value, QByteArray) else None

    @geometry.setter
    def geometry(self, value: QByteArray) -> None:
        self._file.setValue("geometry", value)

    def first_time(self, what: str) -> bool:
        """True once per profile and thing."""
        if self._file.contains(f"told/{what}"):
            return False
        self._file.setValue(f"told/{what}", "yes")
        self._file.sync()
        return True
