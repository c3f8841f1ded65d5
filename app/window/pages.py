"""Makes every page but Home, and loads it only then: most who open the window look at Home alone."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app.desktop.window_settings import Settings
from app.link.engine_link import EngineLink
from core.client.profile import Profile

if TYPE_CHECKING:
    from app.welcome.page import WelcomePage


def projects(link: EngineLink) -> QWidget:
    from app.projects.page import ProjectsPage

    return ProjectsPage(link)


def schedule(link: EngineLink) -> QWidget:
    from app.schedule.page import SchedulePage

    return SchedulePage(link)


def limits(link: EngineLink) -> QWidget:
    from app.limits.page import LimitsPage

    return LimitsPage(link)


def history(link: EngineLink) -> QWidget:
    from app.history.page import HistoryPage

    return HistoryPage(link)


def log(profile: Profile) -> QWidget:
    from app.log.page import LogPage

    return LogPage(profile)


def settings(link: EngineLink, stored: Settings) -> QWidget:
    from app.settings.page import SettingsPage

    return SettingsPage(link, stored)


def welcome(link: EngineLink, leave: Callable[[str], None]) -> "WelcomePage":
    from app.welcome.page import WelcomePage

    return WelcomePage(link, leave)
