"""Pictures of every page in both themes, to look at: `python -m tests.gallery FOLDER [LANGUAGE…]`.

What they show is made up; `tests.screenshots` pictures a real run.
"""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QPoint
from PySide6.QtGui import QFont, QPainter, QPixmap
from PySide6.QtWidgets import QApplication

from app.desktop import language
from app.desktop.window_settings import Settings
from app.link.engine_link import EngineLink
from app.log.page import LogPage
from app.projects.page import ProjectsPage
from app.text import i18n
from app.widgets import theme
from app.window.main_window import MainWindow
from core.client.profile import Profile
from tests.app.full_engine import every_page, fill, settle
from tests.fakes.scripted_engine import ScriptedEngine

_THEMES = {"light": theme.LIGHT, "dark": theme.DARK}
_LOG = """\
2026-03-01 21:59:58,004 INFO core.engine: Ready.
2026-03-01 22:00:00,120 INFO core.engine.engine: Idle -> Starting (no reasons)
2026-03-01 22:00:20,402 INFO core.engine.engine: Syncing -> Contributing (no reasons)
2026-03-01 22:14:11,870 WARNING core.engine.engine: The session failed: process_killed signal=SIGKILL
2026-03-01 22:14:11,872 INFO core.engine.engine: Leaving -> Failed (process_killed signal=SIGKILL)
"""


def take(folder: Path, application: QApplication, languages: Iterable[str]) -> list[Path]:
    """One file a page, theme and language."""
    folder.mkdir(parents=True, exist_ok=True)
    taken: list[Path] = []
    with TemporaryDirectory(prefix="hive") as place:
        profile = Profile(Path(place))
        profile.prepare()
        (profile.logs / "engine.log").write_text(_LOG)
        with ScriptedEngine(profile) as engine:
            fill(engine)
            link = EngineLink(profile)
            window = MainWindow(link, Settings(profile))
            window.show()
            link.open()
            while link.snapshot is None:
                application.processEvents()
            for name, tokens in _THEMES.items():
                theme.apply(application, tokens)
                for code in languages:
                    language.apply(application, code)
                    window.retranslate()
                    taken += _pages(window, folder, f"{name}-{code}")
                    taken += _tasks(window, folder, f"{name}-{code}")
            link.close()
    return taken


def _pages(window: MainWindow, folder: Path, look: str) -> list[Path]:
    taken = []
    for word, page in every_page(window):
        while isinstance(page, LogPage) and not page.shown:
            QApplication.processEvents()
        taken.append(_picture(window, folder / f"{word}-{look}.png"))
    window._show_welcome()
    settle(window)
    taken.append(_picture(window, folder / f"welcome-{look}.png"))
    window._leave_welcome("home")
    return taken


def _tasks(window: MainWindow, folder: Path, look: str) -> list[Path]:
    """What docs/compared.md shows beside the pages: adding a project, and pausing."""
    window.open_named("projects")
    projects = cast("ProjectsPage", window._stack.currentWidget())
    projects.add_panel.show()
    settle(window)
    taken = [_picture(window, folder / f"add-{look}.png")]
    projects.add_panel.hide()
    window.open_named("home")
    button = window.home.button
    button.menu.aboutToShow.emit()
    menu = button.menu.grab()
    below = button.mapTo(window, button.rect().bottomLeft())
    taken.append(_picture(window, folder / f"pause-{look}.png", menu, below))
    return taken


def _picture(window: MainWindow, file: Path, on_top: QPixmap | None = None, at: QPoint | None = None) -> Path:
    picture = window.grab()
    if on_top is not None and at is not None:
        with QPainter(picture) as painter:
            painter.drawPixmap(at, on_top)
    picture.save(str(file))
    return file


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("Usage: python -m tests.gallery FOLDER [LANGUAGE…]")
    application = QApplication([])
    system = QFont(application.font())
    system.setPixelSize(14)
    application.setFont(system)
    print(f"{len(take(Path(sys.argv[1]), application, sys.argv[2:] or i18n.languages()))} pictures in {sys.argv[1]}")
