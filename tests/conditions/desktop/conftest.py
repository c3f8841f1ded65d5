from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from core.conditions.idle.x11 import X11
from tests.conditions.desktop.dbus_services import PrivateBus
from tests.conditions.desktop.screen import Screen


class Clock:
    """Moves when a test says so."""

    def __init__(self) -> None:
        self.now = 1_760_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No desktop, whatever computer the tests run on."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_CURRENT_DESKTOP", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    for bus in ("SESSION", "SYSTEM"):
        monkeypatch.setenv(f"DBUS_{bus}_BUS_ADDRESS", "unix:path=/nonexistent/bus")


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[PrivateBus]:
    """A bus of its own, which counts as session and system bus; services of python-dbusmock are started on it."""
    with PrivateBus() as private:
        for name in ("DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS"):
            monkeypatch.setenv(name, private.address)
        yield private


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Screen]:
    """An X server of its own with a window manager."""
    with Screen() as shown:
        monkeypatch.setenv("DISPLAY", shown.name)
        monkeypatch.setenv("XAUTHORITY", str(shown.authority))
        yield shown


@pytest.fixture
def x11() -> Iterator[X11]:
    connection = X11()
    yield connection
    connection.close()


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """For sockets, whose paths must be short."""
    with TemporaryDirectory(prefix="hive") as folder:
        yield Path(folder)
