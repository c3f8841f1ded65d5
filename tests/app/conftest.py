"""Real widgets against the scripted engine on the real socket; no screen is needed."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.desktop import language
from app.desktop.window_settings import Settings
from app.link.engine_link import EngineLink, Link
from app.text.formats import region
from app.text.formats.region import Region
from app.widgets import theme
from app.window.main_window import MainWindow
from core.api.snapshot import Snapshot
from core.client.profile import Profile
from tests.fakes.scripted_engine import ScriptedEngine


@pytest.fixture(scope="session", autouse=True)
def light(qapp: QApplication) -> None:
    """The theme of the program at the usual text size, as `make_application` applies it."""
    system = QFont(qapp.font())
    system.setPixelSize(14)
    qapp.setFont(system)
    theme.apply(qapp, theme.LIGHT)


@pytest.fixture(autouse=True)
def c_region() -> Iterator[None]:
    """Numbers and times as in the C locale, whatever region the computer is set to."""
    region.use(language.region_of(QLocale.c()))
    yield
    region.use(Region())


@pytest.fixture
def english_again(qapp: QApplication) -> Iterator[None]:
    """Whatever language a test has applied."""
    yield
    language.apply(qapp, "en")
    QLocale.setDefault(QLocale.c())
    region.use(language.region_of(QLocale.c()))


@pytest.fixture
def profile() -> Iterator[Profile]:
    """A profile with a path short enough for a socket inside it."""
    with TemporaryDirectory(prefix="hive") as folder:
        profile = Profile(Path(folder))
        profile.prepare()
        yield profile


@pytest.fixture
def engine(profile: Profile) -> Iterator[ScriptedEngine]:
    with ScriptedEngine(profile) as running:
        yield running


@pytest.fixture
def link(profile: Profile, engine: ScriptedEngine, qtbot: QtBot) -> Iterator[EngineLink]:
    """Connected to `engine`, and has its first snapshot."""
    connection = EngineLink(profile)
    connection.open()
    qtbot.waitUntil(lambda: connection.state is Link.UP and connection.snapshot is not None)
    yield connection
    connection.close()


@pytest.fixture
def window(link: EngineLink, profile: Profile, qtbot: QtBot) -> Iterator[MainWindow]:
    """On the screen, the home page open, as for a volunteer who has seen the welcome."""
    settings = Settings(profile)
    settings.first_time("welcome")
    shown = MainWindow(link, settings)
    shown.show()
    qtbot.waitExposed(shown)
    yield shown
    shown.hide()
    shown.deleteLater()


@pytest.fixture
def show(engine: ScriptedEngine, link: EngineLink, qtbot: QtBot) -> Callable[[Snapshot], None]:
    """Have the engine send a snapshot, and wait until it has arrived."""

    def send(snapshot: Snapshot) -> None:
        engine.show(snapshot)
        qtbot.waitUntil(lambda: link.snapshot == snapshot)

    return send


@pytest.fixture
def london(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local time is London's, with its daylight saving."""
    monkeypatch.setenv("TZ", "Europe/London")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
