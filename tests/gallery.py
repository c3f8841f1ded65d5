"""Pictures of every page in both themes and both languages, to look at: `python -m tests.gallery FOLDER`.

What they show is made up; `tests.screenshots` pictures a real run.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from app import language, theme
from app.engine_link import EngineLink
from app.main_window import MainWindow
from app.settings import Language, Settings
from core.api.home import Home
from tests.app.full_engine import every_page, fill, settle
from tests.fakes.scripted_engine import ScriptedEngine

_THEMES = {"light": theme.LIGHT, "dark": theme.DARK}
_LANGUAGES: tuple[Language, ...] = ("en", "de")


def take(folder: Path, application: QApplication) -> list[Path]:
    """One file a page, theme and language."""
    folder.mkdir(parents=True, exist_ok=True)
    taken: list[Path] = []
    with TemporaryDirectory(prefix="hive") as place:
        home = Home(Path(place))
        home.prepare()
        with ScriptedEngine(home) as engine:
            fill(engine)
            link = EngineLink(home)
            window = MainWindow(link, Settings(home))
            window.show()
            link.open()
            while link.snapshot is None:
                application.processEvents()
            for name, tokens in _THEMES.items():
                theme.apply(application, tokens)
                for code in _LANGUAGES:
                    language.speak(application, code)
                    window.retranslate()
                    taken += _pages(window, folder, f"{name}-{code}")
            link.close()
    return taken


def _pages(window: MainWindow, folder: Path, look: str) -> list[Path]:
    taken = [_picture(window, folder / f"{word}-{look}.png") for word, _ in every_page(window)]
    window._show_welcome()
    settle(window)
    taken.append(_picture(window, folder / f"welcome-{look}.png"))
    window._leave_welcome("home")
    return taken


def _picture(window: MainWindow, file: Path) -> Path:
    window.grab().save(str(file))
    return file


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Usage: python -m tests.gallery FOLDER")
    print(f"{len(take(Path(sys.argv[1]), QApplication([])))} pictures in {sys.argv[1]}")
