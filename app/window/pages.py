"""The pages of the window. A page is loaded when it is first opened: most people look only at Home."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from PySide6.QtWidgets import QWidget

from app.desktop.window_settings import Settings
from app.link.engine_link import EngineLink
from app.text.i18n import tr


class PageRow(NamedTuple):
    word: str
    """By which other pages open it."""
    name: str
    make: Callable[[], QWidget]


def table(
    home: QWidget, link: EngineLink, local: EngineLink, settings: Settings, welcome: Callable[[], None]
) -> list[PageRow]:
    """All pages, in the order of the sidebar. `link` is of the machine that is shown; the settings are those of this
    computer (`local`). `welcome` shows the welcome page.
    """
    return [
        PageRow("home", tr("Home"), lambda: home),
        PageRow("projects", tr("Projects"), lambda: _load("projects").ProjectsPage(link)),
        PageRow("schedule", tr("Schedule"), lambda: _load("schedule").SchedulePage(link, settings)),
        PageRow("limits", tr("Limits"), lambda: _load("limits").LimitsPage(link)),
        PageRow("history", tr("History"), lambda: _load("history").HistoryPage(link)),
        PageRow("log", tr("Log"), lambda: _load("log").LogPage(link, settings.profile)),
        PageRow("settings", tr("Settings"), lambda: _load("settings").SettingsPage(local, settings, welcome)),
    ]


def _load(folder: str) -> ModuleType:
    return import_module(f"app.{folder}.page")
